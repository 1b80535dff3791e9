import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { readFileUpTo } from '../bytes/read-file.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { ConnectFailure, httpErrors } from './errors.ts';

/** All the roots that systems trust come to a quarter of a mebibyte. */
const LARGEST_CA_FILE = 16 * 1024 * 1024;

/**
 * Trust in steps of growing cost. A server is trusted when any step trusts it, so the last step alone would do; but it
 * takes 60 ms (Node 20) to 130 ms (Node 24, which reads the system's roots) to set up, and the first hardly anything.
 */
export interface TrustRoots {
  /** PEM of the user's own roots (--ca-file); undefined without such a file: Node's default set is the first step. */
  readonly own: readonly string[] | undefined;
  /** PEM of everything trusted, `own` included; undefined where that adds nothing to the first step. */
  readonly all: () => Promise<readonly string[] | undefined>;
}

/** `caFile`: PEM, with roots to add. Read at once, so that a bad one is a usage error before anything is sent; the rest when needed. */
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

/** Node 22.15 and later. The default set has NODE_EXTRA_CA_CERTS in it, and what --use-system-ca asks for. */
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
  // Older: Node's default set, which has the extra ones, is the first step already unless the user's file takes its place.
  if (own === undefined) return undefined;
  return [...own, ...tls.rootCertificates, ...(await extraRoots(environment.NODE_EXTRA_CA_CERTS))];
}

/** Node has warned already, at its start, about a file that it cannot use, and goes on without it: so does this. */
async function extraRoots(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined || path === '') return [];
  return readFile(path, 'utf8').then(certificatesIn, () => []);
}

function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/**
 * The error of a run with this variable, or undefined. This program verifies certificates in any case, but a user who sets
 * the variable does not expect that, and other programs in the same environment are exposed.
 */
export function tlsChecksDisabled(
  environment: Readonly<Record<string, string | undefined>>,
): CodesignError | undefined {
  return environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? httpErrors('tls-checks-disabled') : undefined;
}

/** Runs `open` with the cheap step, and again with everything when the server was not trusted. */
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

/** Without `ca` Node takes its default roots, NODE_EXTRA_CA_CERTS among them. */
function secureContext(ca: readonly string[] | undefined): tls.SecureContext {
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [...ca] }) });
}
