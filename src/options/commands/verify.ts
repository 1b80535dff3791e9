/** The settings of `verify`: which signers to trust, and what a signature must have. It reads no profile. */

import { settingsErrors } from '../errors.ts';
import { lookUp, refuseConflicts } from '../lookup.ts';
import type { Environment, VerifyOptions } from '../options.ts';
import { refuse } from '../values.ts';
import { listed } from '../variables.ts';
import { resolveRequests } from './common.ts';

/** As openssl and Windows print them: with colons or spaces, in either case. */
const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;

export type VerifySettings = ReturnType<typeof resolveVerifySettings>;

/** Of requests for revocation. */
const REQUEST_OPTIONS = ['caFile', 'proxy', 'timeout'] as const;

/** Throws `invalid-setting`, `settings-conflict`, `revocation-not-checked`. */
export function resolveVerifySettings(options: VerifyOptions, env: Environment = {}) {
  refuseConflicts('verify', options);
  // Of the environment, only the proxies that all programs use.
  const look = lookUp(options, {});
  const checkRevocation = look.read('checkRevocation');
  const unused = checkRevocation ? [] : REQUEST_OPTIONS.flatMap((key) => look.one(key)?.name ?? []);
  if (unused.length > 0) throw settingsErrors('revocation-not-checked', { options: listed(unused) });
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
    catalog: look.read('catalog'),
    checkRevocation,
    integrityOnly,
    requireTimestamp: look.read('requireTimestamp') ?? false,
    signer,
    leastAlgorithm: look.read('algorithmAtLeast'),
  };
}

/** By common name, or by the SHA-256 of the certificate in lower-case hexadecimal. */
function readSigner(text: string): { readonly commonName: string } | { readonly sha256: string } {
  const digits = text.replace(/[:\s]/g, '').toLowerCase();
  // What signtool shows; as a name it would never match.
  if (SHA1.test(digits)) refuse({ name: '--signer', value: text }, "a common name, or the certificate's SHA-256");
  return SHA256.test(digits) ? { sha256: digits } : { commonName: text };
}
