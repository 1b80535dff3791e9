/** The settings of `verify`: which signers to trust, and what a signature must have. It reads no profile. */

import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { settingsErrors } from '../errors.ts';
import { lookUp, refuseConflicts } from '../lookup.ts';
import type { Environment, VerifyOptions } from '../options.ts';
import { refuse } from '../values.ts';
import { type RequestSettings, resolveRequests } from './common.ts';

export interface VerifySettings extends RequestSettings {
  /** Paths of the roots to trust, and `system` for the system's; none for the system's alone. */
  readonly roots: readonly string[];
  readonly crlFiles: readonly string[];
  readonly checkRevocation: boolean;
  readonly integrityOnly: boolean;
  readonly requireTimestamp: boolean;
  /** By common name, or by the SHA-256 of the certificate in lower-case hexadecimal. */
  readonly signer: { readonly commonName: string } | { readonly sha256: string } | undefined;
  readonly leastAlgorithm: DigestAlgorithm | undefined;
}

/** As openssl and Windows print them: with colons or spaces, in either case. */
const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;

/** Throws `invalid-setting`, `settings-conflict`. */
export function resolveVerifySettings(options: VerifyOptions, env: Environment = {}): VerifySettings {
  refuseConflicts('verify', options);
  // Of the environment, only the proxies that all programs use.
  const look = lookUp(options, {});
  const integrityOnly = look.read('integrityOnly');
  const text = look.read('signer');
  const signer = text === undefined ? undefined : readSigner(text);
  // A certificate with any name is easily made: a name means something only with trust.
  if (integrityOnly && signer !== undefined && 'commonName' in signer) {
    throw settingsErrors('settings-conflict', { options: '--integrity-only and --signer with a name' });
  }
  return {
    ...resolveRequests(look, env),
    roots: look.read('roots'),
    crlFiles: look.read('crlFile'),
    checkRevocation: look.read('checkRevocation'),
    integrityOnly,
    requireTimestamp: look.read('requireTimestamp') ?? false,
    signer,
    leastAlgorithm: look.read('algorithmAtLeast'),
  };
}

function readSigner(text: string): NonNullable<VerifySettings['signer']> {
  const digits = text.replace(/[:\s]/g, '').toLowerCase();
  // What signtool shows; as a name it would never match.
  if (SHA1.test(digits)) refuse({ name: '--signer', value: text }, "a common name, or the certificate's SHA-256");
  return SHA256.test(digits) ? { sha256: digits } : { commonName: text };
}
