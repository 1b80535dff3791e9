/** The commands about certificates. */

import { X509Certificate } from 'node:crypto';
import { serverError } from '../errors.ts';
import { RSA_BITS, type RsaBits } from '../keys/key-store.ts';
import { importCertificate, requestCertificate } from '../setup/certificate-request.ts';
import { makeCertificate } from '../setup/certificates.ts';
import { dataFolder } from '../setup/data-folder.ts';
import type { DataConfig } from './config.ts';
import { type Columns, type ListOptions, printList } from './list.ts';
import { type AdminSurroundings, init, withData, withStore } from './surroundings.ts';
import { checked } from './values.ts';

/** `certificate add`. @returns the path of the chain's file @throws ServerError */
export async function certificateAdd(
  config: DataConfig,
  options: { readonly number: string; readonly bits: string; readonly commonName: string },
  surroundings: Pick<AdminSurroundings, 'environment' | 'now'>,
): Promise<string> {
  const certificate = {
    number: checkedNumber(options.number),
    bits: readBits(options.bits),
    commonName: checkedName('--common-name', options.commonName),
  };
  await init(config, surroundings);
  return await withData(config, surroundings, (data) => makeCertificate(data, certificate, surroundings.now()));
}

/** `certificate request`: the same key and request as before, where one waits for its certificate already. @returns PKCS#10, PEM @throws ServerError */
export async function certificateRequest(
  config: DataConfig,
  options: {
    readonly number: string;
    readonly bits: string;
    readonly commonName: string;
    readonly organization?: string;
  },
  surroundings: Pick<AdminSurroundings, 'environment' | 'now'>,
): Promise<string> {
  const { organization } = options;
  const subject = {
    commonName: checkedName('--common-name', options.commonName),
    ...(organization !== undefined && { organization: checkedName('--organization', organization) }),
  };
  const wanted = { number: checkedNumber(options.number), bits: readBits(options.bits), subject };
  await init(config, surroundings);
  return await withData(config, surroundings, (data) => requestCertificate(data, wanted, surroundings.now()));
}

/** `certificate import`. @returns the path of the chain's file @throws ServerError */
export async function certificateImport(
  config: DataConfig,
  { number, chain }: { readonly number: string; readonly chain: string },
  surroundings: Pick<AdminSurroundings, 'environment' | 'now'>,
): Promise<string> {
  return await withData(config, surroundings, (data) => importCertificate(data, number, chain, surroundings.now()));
}

/** `certificate list`. */
export async function certificateList(
  config: DataConfig,
  options: ListOptions,
  { announce, now }: Pick<AdminSurroundings, 'announce' | 'now'>,
): Promise<void> {
  const folder = dataFolder(config.dataRoot);
  const certificates = await withStore(config, (store) => store.certificates.list());
  const rows = certificates.map(({ number, chain, notBefore, notAfter, disabled }) => {
    const bits = new X509Certificate(chain).publicKey.asymmetricKeyDetails?.modulusLength;
    const validity = now() < notBefore ? 'not valid yet' : now() > notAfter ? 'expired' : 'valid';
    const state = disabled ? 'disabled' : validity;
    return { number, key: `RSA ${bits}`, state, notBefore, notAfter, chainFile: folder.certificate(number) };
  });
  const columns: Columns<(typeof rows)[number]> = {
    NUMBER: ({ number }) => number,
    KEY: ({ key }) => key,
    STATE: ({ state }) => state,
    'VALID UNTIL': ({ notAfter }) => notAfter.toISOString(),
    'CHAIN FILE': ({ chainFile }) => chainFile,
  };
  printList(rows, columns, options, announce);
}

/** `certificate disable` and `certificate enable`: known at the next call. @throws `certificate-not-found` */
export async function certificateSwitch(config: DataConfig, number: string, disabled: boolean): Promise<void> {
  const known = await withStore(config, (store) => store.certificates.disable(number, disabled));
  if (!known) throw serverError('certificate-not-found', { number });
}

/** It is part of a file's name. */
function checkedNumber(value: string): string {
  return checked('--number', value, /^[a-z0-9][a-z0-9._-]{0,63}$/, 'of lower-case letters, digits and . _ -');
}

/** RFC 5280 bounds both names alike. */
function checkedName(option: string, value: string): string {
  return checked(option, value, /^[^\p{Cc}]{1,64}$/u, 'a name of 1 to 64 characters');
}

function readBits(value: string): RsaBits {
  const bits = RSA_BITS.find((known) => String(known) === value);
  if (bits === undefined)
    throw serverError('invalid-option', { option: '--bits', value, expected: RSA_BITS.join(', ') });
  return bits;
}
