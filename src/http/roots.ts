import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { readFileUpTo } from '../bytes/read-file.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { ConnectFailure, httpErrors } from './errors.ts';

/** All roots that a system trusts take about 250 KiB. */
const LARGEST_CA_FILE = 16 * 1024 * 1024;

/**
 * Trust roots in steps of increasing cost. A server is trusted if any step trusts it, so the last step alone would be
 * enough. The last step takes 60 ms (Node.js 20) to 130 ms (Node.js 24, which reads the system's roots) to set up,
 * while the first step takes almost no time.
 */
export interface TrustRoots {
  /** PEM of the user's own roots (--ca-file); undefined if the first step is Node's default set. */
  readonly own: readonly string[] | undefined;
  /** PEM of all trusted roots, including `own`; undefined if that adds nothing to the first step. */
  readonly all: () => Promise<readonly string[] | undefined>;
}

/**
 * `caFile`: PEM file with additional roots. The file is read immediately, so that an invalid file is a usage error
 * before anything is sent. The other roots are read when they are needed.
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

/** Node.js 22.15 and later. The default set includes NODE_EXTRA_CA_CERTS and --use-system-ca. */
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
  // In older versions, the first step is Node's default set with the extra roots, unless the user's file replaces it.
  if (own === undefined) return undefined;
  return [...own, ...tls.rootCertificates, ...(await extraRoots(environment.NODE_EXTRA_CA_CERTS))];
}

/** Ignores an unusable file, because Node.js has already warned about it and ignored it at startup. */
async function extraRoots(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined || path === '') return [];
  return readFile(path, 'utf8').then(certificatesIn, () => []);
}

function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/**
 * Returns the error for a run with this variable, or undefined. This program always verifies certificates. A user who
 * sets the variable expects unverified connections, and other programs in the same environment are exposed.
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

/** Without `ca`, Node.js uses its default roots, including NODE_EXTRA_CA_CERTS. */
function secureContext(ca: readonly string[] | undefined): tls.SecureContext {
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [...ca] }) });
}
