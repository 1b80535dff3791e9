/** Which token the keys are in: the operator's own HSM where one is named, else SoftHSM's in the data folder. */

import { readFile } from 'node:fs/promises';
import type { DataConfig } from '../cli/config.ts';
import { reasonOf, serverError } from '../errors.ts';
import type { TokenOptions } from '../keys/pkcs11.ts';
import { findSoftHsm } from '../keys/softhsm.ts';

export interface Hsm {
  /** Path of the PKCS#11 library. */
  readonly library: string;
  /** Undefined: the token that the first start makes in the data folder. */
  readonly token: TokenOptions | undefined;
}

/** @throws `pkcs11-library-not-found`, `pin-missing`, `pin-unreadable` */
export async function chooseHsm(config: DataConfig, environment: NodeJS.ProcessEnv): Promise<Hsm> {
  const library = findSoftHsm(config.pkcs11Library);
  const { pkcs11Token: label, pkcs11PinFile } = config;
  if (label === undefined) return { library, token: undefined };
  const pin = environment.CODESIGN_SERVER_PKCS11_PIN || (await readPin(pkcs11PinFile));
  if (pin === undefined || pin === '') throw serverError('pin-missing', { token: label });
  return { library, token: { library, label, pin } };
}

async function readPin(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw serverError('pin-unreadable', { path, reason: reasonOf(error) }, error);
  }
}
