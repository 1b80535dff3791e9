/** What `verify` is told: whom to trust, and what a signature must have. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Proxies } from '../http/proxy.ts';
import { settingsErrors } from './errors.ts';
import { lookUp } from './lookup.ts';
import type { Environment } from './options.ts';
import { resolveProxies } from './proxy-settings.ts';
import { given, readAlgorithm, readText, readTimeout, refuse } from './values.ts';

export interface VerifyOptions {
  readonly roots?: string | undefined;
  readonly crlFile?: readonly string[] | undefined;
  readonly checkRevocation?: boolean | undefined;
  readonly integrityOnly?: boolean | undefined;
  readonly requireTimestamp?: boolean | undefined;
  readonly signer?: string | undefined;
  readonly algorithmAtLeast?: string | undefined;
  readonly caFile?: string | undefined;
  readonly proxy?: string | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
}

export interface VerifySettings {
  /** Path of the roots to trust; undefined for the system's. */
  readonly roots: string | undefined;
  readonly crlFiles: readonly string[];
  readonly checkRevocation: boolean;
  readonly integrityOnly: boolean;
  readonly requireTimestamp: boolean;
  /** By common name, or by the SHA-256 of the certificate in lower-case hexadecimal. */
  readonly signer: { readonly commonName: string } | { readonly sha256: string } | undefined;
  readonly leastAlgorithm: DigestAlgorithm | undefined;
  readonly caFile: string | undefined;
  /** Asked for where somebody is to be called. Throws `proxy-invalid`, `proxy-holds-credentials`. */
  readonly proxies: () => Proxies;
  /** For one request for a CRL or to an OCSP responder. */
  readonly timeoutMilliseconds: number;
}

/** As openssl and Windows print it: with colons or blanks, in either case. */
const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;

/** No profile is looked into. Throws `invalid-setting`, `settings-conflict`. */
export function resolveVerifySettings(options: VerifyOptions, env: Environment = {}): VerifySettings {
  const { crlFile = [], checkRevocation = false, integrityOnly = false, requireTimestamp = false } = options;
  if (integrityOnly) refuseTrustOptions(options);
  const text = optionalText(options.signer, '--signer');
  const signer = text === undefined ? undefined : readSigner(text);
  // Anybody can make a certificate of any name: only trust makes a name mean something.
  if (integrityOnly && signer !== undefined && 'commonName' in signer) {
    throw settingsErrors('settings-conflict', { options: '--integrity-only and --signer with a name' });
  }
  const least = given(options.algorithmAtLeast, '--algorithm-at-least');
  return {
    roots: optionalText(options.roots, '--roots'),
    crlFiles: crlFile,
    checkRevocation,
    integrityOnly,
    requireTimestamp,
    signer,
    leastAlgorithm: least === undefined ? undefined : readAlgorithm(least, 'SHA256'),
    caFile: optionalText(options.caFile, '--ca-file'),
    proxies: () => resolveProxies(lookUp({ proxy: options.proxy }, env), env),
    timeoutMilliseconds: readTimeout(given(options.timeout?.toString(), '--timeout')),
  };
}

function optionalText(value: string | undefined, name: string): string | undefined {
  const from = given(value, name);
  return from && readText(from);
}

function refuseTrustOptions({ roots, crlFile = [], checkRevocation }: VerifyOptions): void {
  const asked = [
    roots !== undefined && '--roots',
    crlFile.length > 0 && '--crl-file',
    checkRevocation && '--check-revocation',
  ];
  const [other] = asked.filter(Boolean);
  if (other) throw settingsErrors('settings-conflict', { options: `--integrity-only and ${other}` });
}

function readSigner(text: string): NonNullable<VerifySettings['signer']> {
  const digits = text.replace(/[:\s]/g, '').toLowerCase();
  // What signtool shows; as a name it would never fit.
  if (SHA1.test(digits)) refuse({ name: '--signer', value: text }, "a common name, or the certificate's SHA-256");
  return SHA256.test(digits) ? { sha256: digits } : { commonName: text };
}
