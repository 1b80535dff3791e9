/** The commands about certificates. */

import { X509Certificate } from 'node:crypto';
import type { DataConfig } from '../config.ts';
import { serverError } from '../errors.ts';
import { RSA_BITS, type RsaBits } from '../keys/key-store.ts';
import { importCertificate, requestCertificate } from '../setup/certificate-request.ts';
import { makeCertificate } from '../setup/certificates.ts';
import { dataFolder } from '../setup/data-folder.ts';
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

/** `certificate list`. @returns a line for each certificate, its fields apart by tabs */
export async function certificateList(config: DataConfig): Promise<readonly string[]> {
  const folder = dataFolder(config.dataRoot);
  const certificates = await withStore(config, (store) => store.certificates.list());
  return certificates.map(({ number, chain, notAfter }) => {
    const { publicKey } = new X509Certificate(chain);
    const bits = publicKey.asymmetricKeyDetails?.modulusLength;
    return [number, `RSA ${bits}`, notAfter.toISOString(), folder.certificate(number)].join('\t');
  });
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
