import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { readFileUpTo } from '../bytes/read-file.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { ConnectFailure, httpErrors } from './errors.ts';

/** The trusted roots of a system have about 250 KiB. */
const LARGEST_CA_FILE = 16 * 1024 * 1024;

/**
 * A server is trusted if one of two steps trusts it. Using only `all` would give the same result, but loading it takes
 * 60 ms (Node.js 20) to 130 ms (Node.js 24, which reads the system's roots).
 */
export interface TrustRoots {
  /** The user's own roots (--ca-file) in PEM; undefined stands for Node's default roots. */
  readonly own: readonly string[] | undefined;
  /** All trusted roots in PEM, including `own`; undefined if they are the same as `own`. */
  readonly all: () => Promise<readonly string[] | undefined>;
}

/** Reads `caFile` immediately, so that an invalid file is reported before anything is sent. */
export async function loadRoots(
  caFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<TrustRoots> {
  const own = caFile === undefined ? undefined : await readCaFile(caFile);
  return { own, all: () => everyRoot(own, environment) };
}

async function readCaFile(path: string): Promise<readonly string[]> {
  let text: string;
  try {
    text = (await readFileUpTo(path, LARGEST_CA_FILE)).toString();
  } catch (cause) {
    throw httpErrors('ca-file-unreadable', { reason: systemReason(cause) });
  }
  const blocks = certificatesIn(text);
  if (blocks.length === 0) throw httpErrors('ca-file-unusable', { path, reason: 'no PEM certificate in it' });
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw httpErrors('ca-file-unusable', { path, reason: `certificate ${index + 1} is damaged` }, { cause });
    }
  }
  return blocks;
}

/** Node.js 22.15 and later. The default roots include those of NODE_EXTRA_CA_CERTS and --use-system-ca. */
interface CertificateStores {
  readonly getCACertificates?: (type: 'default' | 'system') => readonly string[];
}

async function everyRoot(
  own: readonly string[] | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[] | undefined> {
  const { getCACertificates } = tls as typeof tls & CertificateStores;
  if (getCACertificates !== undefined) {
    return [...new Set([...(own ?? []), ...getCACertificates('default'), ...getCACertificates('system')])];
  }
  // In Node.js before 22.15, an undefined list means the default roots and those of NODE_EXTRA_CA_CERTS.
  if (own === undefined) return undefined;
  return [...own, ...tls.rootCertificates, ...(await extraRoots(environment.NODE_EXTRA_CA_CERTS))];
}

/** Node.js has already reported an unusable file at startup. */
async function extraRoots(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined || path === '') return [];
  return readFile(path, 'utf8').then(certificatesIn, () => []);
}

function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/** A user who sets this variable expects that certificates are not verified, but this program always verifies them. */
export function tlsChecksDisabled(
  environment: Readonly<Record<string, string | undefined>>,
): CodesignError | undefined {
  return environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? httpErrors('tls-checks-disabled') : undefined;
}

export function trustInSteps(roots: TrustRoots) {
  let first: tls.SecureContext | undefined;
  let everything: Promise<tls.SecureContext | undefined> | undefined;
  return async <T>(open: (context: tls.SecureContext) => Promise<T>): Promise<T> => {
    first ??= secureContext(roots.own);
    const context = (await everything) ?? first;
    try {
      return await open(context);
    } catch (failure) {
      if (!(failure instanceof ConnectFailure && failure.reason === 'tls-untrusted')) throw failure;
      everything ??= roots.all().then((all) => (all === undefined ? undefined : secureContext(all)));
      const more = await everything;
      if (more === undefined || more === context) throw failure;
      return open(more);
    }
  };
}

function secureContext(ca: readonly string[] | undefined): tls.SecureContext {
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [...ca] }) });
}
