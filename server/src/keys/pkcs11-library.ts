import type * as Pkcs11 from 'pkcs11js';
import { codeOf, ServerError } from '../errors.ts';

/** Length in bytes to which PKCS#11 pads a token label with spaces. */
export const LABEL_LENGTH = 32;

export type Handle = Pkcs11.Handle;

export interface Library {
  readonly p11: typeof Pkcs11;
  readonly module: Pkcs11.PKCS11;
}

export async function load(path: string): Promise<Library> {
  let p11: typeof Pkcs11;
  try {
    p11 = (await import('pkcs11js')).default;
  } catch (error) {
    throw new ServerError('pkcs11-addon-missing', {}, error);
  }
  const library = { p11, module: new p11.PKCS11() };
  try {
    library.module.load(path);
  } catch (error) {
    throw new ServerError('pkcs11-library-unusable', { path }, error);
  }
  attempt(`start its library ${path}`, () => initialize(library));
  return library;
}

export function initialize({ p11, module }: Library): void {
  module.C_Initialize({ flags: p11.CKF_OS_LOCKING_OK });
}

export function unload({ module }: Library): void {
  try {
    module.C_Finalize();
  } catch {
    // The library may fail to finalise if the HSM is unavailable.
  }
  module.close();
}

export function findSlot({ module }: Library, label: string): Handle {
  const slot = module
    .C_GetSlotList(true)
    .find((candidate) => module.C_GetTokenInfo(candidate).label.trimEnd() === label);
  if (slot === undefined) throw new ServerError('token-not-found', { label });
  return slot;
}

/**
 * Recognises errors after which a new login may help, because sessions or the token are lost. Libraries of network HSMs
 * return CKR_GENERAL_ERROR when their connection is lost.
 */
export function isLost({ p11 }: Library, error: unknown): boolean {
  const code = codeOf(error instanceof ServerError ? error.cause : error);
  return [
    ...[p11.CKR_SESSION_HANDLE_INVALID, p11.CKR_SESSION_CLOSED, p11.CKR_USER_NOT_LOGGED_IN],
    ...[p11.CKR_KEY_HANDLE_INVALID, p11.CKR_OBJECT_HANDLE_INVALID, p11.CKR_SLOT_ID_INVALID],
    ...[p11.CKR_TOKEN_NOT_PRESENT, p11.CKR_TOKEN_NOT_RECOGNIZED, p11.CKR_DEVICE_REMOVED],
    ...[p11.CKR_DEVICE_ERROR, p11.CKR_GENERAL_ERROR, p11.CKR_CRYPTOKI_NOT_INITIALIZED],
  ].some((lost) => lost === code);
}

/** A missing key may be restored later. Some libraries find the restored key only after a new login. */
export function isKeyMissing(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'key-not-found';
}

/** Another attempt with a rejected PIN could lock the token. */
export function isPinRejected({ p11 }: Library, error: unknown): boolean {
  const { CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, CKR_PIN_EXPIRED, CKR_PIN_LOCKED } = p11;
  const rejections = [CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, CKR_PIN_EXPIRED, CKR_PIN_LOCKED];
  return rejections.some((rejected) => rejected === codeOf(error));
}

export function attempt<T>(operation: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asHsmError(operation, error);
  }
}

export function asHsmError(operation: string, error: unknown): unknown {
  return error instanceof ServerError ? error : new ServerError('hsm-failed', { operation }, error);
}
