import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { readFileUpTo } from '../bytes/read-file.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { ConnectFailure, httpErrors } from './errors.ts';

/** All trusted roots of a system are about 250 KiB long in total. */
const LARGEST_CA_FILE = 16 * 1024 * 1024;

/**
 * Trusted roots, in steps that are increasingly slow to load. A server is trusted if any step trusts it, so using only
 * the last step would give the same result. The last step takes 60 ms (Node.js 20) to 130 ms (Node.js 24, which reads
 * the system's roots). The first step takes almost no time.
 */
export interface TrustRoots {
  /** The user's own roots (--ca-file) in PEM; undefined if the first step uses Node's default roots. */
  readonly own: readonly string[] | undefined;
  /** All trusted roots in PEM, including `own`; undefined if they are the same as in the first step. */
  readonly all: () => Promise<readonly string[] | undefined>;
}

/**
 * `caFile`: PEM file with additional roots. The file is read immediately. An invalid file is therefore reported as a
 * usage error before anything is sent. All other roots are read only when they are needed.
 */
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
  // In older versions of Node.js, an undefined list means the default roots and the extra roots.
  if (own === undefined) return undefined;
  return [...own, ...tls.rootCertificates, ...(await extraRoots(environment.NODE_EXTRA_CA_CERTS))];
}

/** Ignores an unusable file, because Node.js already ignored it at startup, with a warning. */
async function extraRoots(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined || path === '') return [];
  return readFile(path, 'utf8').then(certificatesIn, () => []);
}

function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/**
 * Returns an error if this variable is set, and otherwise returns undefined. This program always verifies certificates.
 * A user who sets the variable expects that connections are not verified, and the variable makes other programs in the
 * same environment unsafe.
 */
export function tlsChecksDisabled(
  environment: Readonly<Record<string, string | undefined>>,
): CodesignError | undefined {
  return environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? httpErrors('tls-checks-disabled') : undefined;
}

export type Trusting = <T>(open: (context: tls.SecureContext) => Promise<T>) => Promise<T>;

export function trustInSteps(roots: TrustRoots): Trusting {
  let first: tls.SecureContext | undefined;
  let everything: Promise<tls.SecureContext | undefined> | undefined;
  return async (open) => {
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

/** If `ca` is not set, Node.js uses its default roots, including those of NODE_EXTRA_CA_CERTS. */
function secureContext(ca: readonly string[] | undefined): tls.SecureContext {
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [...ca] }) });
}
