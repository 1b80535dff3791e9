/** The administration commands: each opens the data folder, does one thing beside a server that may be running, and closes it. */

import { X509Certificate } from 'node:crypto';
import type { DataConfig } from './config.ts';
import { serverError } from './errors.ts';
import { RSA_BITS, type RsaBits } from './keys/key-store.ts';
import { makeCertificate } from './setup/certificates.ts';
import { dataFolder, isMade } from './setup/data-folder.ts';
import { chooseHsm } from './setup/hsm.ts';
import { makeData } from './setup/make-data.ts';
import { type OpenData, openData } from './setup/open-data.ts';

interface AdminSurroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly now: () => Date;
}

/** `certificate add`. @returns the path of the chain's file @throws ServerError */
export async function certificateAdd(
  config: DataConfig,
  options: { readonly number: string; readonly bits: string; readonly commonName: string },
  surroundings: AdminSurroundings,
): Promise<string> {
  const certificate = {
    number: checked(
      '--number',
      options.number,
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'of lower-case letters, digits and . _ -',
    ),
    bits: readBits(options.bits),
    commonName: checked('--common-name', options.commonName, /^[^\p{Cc}]{1,64}$/u, 'a name of 1 to 64 characters'),
  };
  await init(config, surroundings);
  return await withData(config, surroundings, (data) => makeCertificate(data, certificate, surroundings.now()));
}

/** `certificate list`. @returns a line for each certificate, its fields apart by tabs */
export async function certificateList(config: DataConfig, surroundings: AdminSurroundings): Promise<readonly string[]> {
  return await withData(config, surroundings, async ({ store, folder }) => {
    const certificates = await store.certificates.list();
    return certificates.map(({ number, chain, notAfter }) => {
      const { publicKey } = new X509Certificate(chain);
      const bits = publicKey.asymmetricKeyDetails?.modulusLength;
      return [number, `RSA ${bits}`, notAfter.toISOString(), folder.certificate(number)].join('\t');
    });
  });
}

/** `init`: makes the data where there is none yet. @returns its folder @throws ServerError */
export async function init(config: DataConfig, surroundings: AdminSurroundings): Promise<string> {
  const { database, dataRoot: root } = config;
  const hsm = await chooseHsm(config, surroundings.environment);
  return (await makeData({ ...surroundings, ...hsm, root, database })).path;
}

async function withData<T>(
  config: DataConfig,
  { environment }: AdminSurroundings,
  work: (data: OpenData) => Promise<T>,
): Promise<T> {
  const { library, token } = await chooseHsm(config, environment);
  const folder = dataFolder(config.dataRoot);
  if (!(await isMade(folder))) throw serverError('data-folder-not-made', { path: config.dataRoot });
  const data = await openData(folder, library, environment, { database: config.database, token });
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}

function readBits(value: string): RsaBits {
  const bits = RSA_BITS.find((known) => String(known) === value);
  if (bits === undefined)
    throw serverError('invalid-option', { option: '--bits', value, expected: RSA_BITS.join(', ') });
  return bits;
}

function checked(option: string, value: string, pattern: RegExp, expected: string): string {
  if (!pattern.test(value)) throw serverError('invalid-option', { option, value, expected });
  return value;
}
