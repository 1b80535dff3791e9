import tls from 'node:tls';
import { readFileUpTo } from '../bytes/read-file.ts';
import { lazy } from '../bytes/reuse.ts';
import { type ParsedCertificate, parseCertificate } from '../certificates/certificate.ts';
import { readContainer } from '../certificates/certificate-files.ts';
import { type Crl, readCrls } from '../certificates/revocation/crl.ts';
import { CodesignError, orUndefined } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { verifyingErrors } from './errors.ts';

export interface TrustRoots {
  /** The roots are read on first use, because reading the system's roots takes about 30 ms. */
  readonly roots: readonly ParsedCertificate[];
  readonly source: string;
}

export interface TrustRootsOptions {
  /** Files that contain roots (PEM, DER or PKCS#7). If any are specified, only the roots in them are trusted. */
  readonly files: readonly string[];
  /** True if the system's roots are trusted in addition to the roots in the files. */
  readonly withSystem?: boolean;
  readonly option?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Paths at which the system may store its roots. The first readable file is used. */
  readonly systemBundles?: readonly string[];
}

/** A PEM file that contains all public roots is 0.2 MB long. */
const MAX_FILE_LENGTH = 4 * 1024 * 1024;

const LINUX_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Alpine, Arch, Gentoo
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, Red Hat, Amazon
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', // newer Fedora
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // Alpine without the package ca-certificates
];

/** Throws an error if one of the user's files contains an unreadable certificate. */
export async function loadTrustRoots(options: TrustRootsOptions): Promise<TrustRoots> {
  const { files, withSystem = files.length === 0, option = '--roots' } = options;
  const parts: TrustRoots[] = [];
  for (const file of files) {
    parts.push({ roots: await readNamed(file, option, (der) => parseCertificate(der, file)), source: file });
  }
  if (withSystem) parts.push(await loadSystemRoots(options));
  return lazyRoots(parts.map(({ source }) => source).join(', '), () => parts.flatMap(({ roots }) => roots));
}

/** Uses the first available source: SSL_CERT_FILE, the system's roots, or the roots in Node.js. */
async function loadSystemRoots({ environment, systemBundles }: TrustRootsOptions): Promise<TrustRoots> {
  const fromEnvironment = environment.SSL_CERT_FILE;
  if (fromEnvironment) {
    const certificates = await readNamed(fromEnvironment, 'SSL_CERT_FILE', (der) => der);
    return readableRoots(fromEnvironment, () => certificates);
  }
  for (const path of systemBundles ?? (process.platform === 'linux' ? LINUX_BUNDLES : [])) {
    const certificates = await readBundle(path);
    if (certificates !== undefined) return readableRoots(path, () => certificates);
  }
  return rootsOfNode();
}

/** Reads a file that the user named. */
async function readNamed<T>(path: string, option: string, parse: (der: Uint8Array) => T): Promise<readonly T[]> {
  const bytes = await readFileUpTo(path, MAX_FILE_LENGTH).catch((cause: unknown) => {
    throw verifyingErrors('roots-unreadable', { path, option, reason: systemReason(cause) }, { cause });
  });
  try {
    return (await readContainer({ name: path, bytes }, undefined)).map(parse);
  } catch (cause) {
    const problem = cause instanceof CodesignError ? cause.message : `${path} is damaged`;
    throw verifyingErrors('roots-unusable', { option, problem }, { cause });
  }
}

async function readBundle(path: string): Promise<readonly Uint8Array[] | undefined> {
  return readFileUpTo(path, MAX_FILE_LENGTH)
    .then((bytes) => readContainer({ name: path, bytes }, undefined))
    .catch(() => undefined);
}

/** This function exists in Node.js 22.15 and later. */
interface CertificateStores {
  readonly getCACertificates?: (type: 'system') => readonly string[];
}

function rootsOfNode(): TrustRoots {
  const { getCACertificates } = tls as typeof tls & CertificateStores;
  const fromPem = (certificates: readonly string[]) =>
    certificates.map((pem) => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'));
  if (getCACertificates === undefined) return readableRoots('Node.js', () => fromPem(tls.rootCertificates));
  return readableRoots('the operating system', () => fromPem(getCACertificates('system')));
}

/** Skips unreadable certificates. Skipping a certificate is safe, because a skipped certificate is not trusted. */
function readableRoots(source: string, certificates: () => readonly Uint8Array[]): TrustRoots {
  return lazyRoots(source, () =>
    certificates().flatMap((der) => orUndefined(() => parseCertificate(der, source)) ?? []),
  );
}

function lazyRoots(source: string, read: () => readonly ParsedCertificate[]): TrustRoots {
  const roots = lazy(read);
  return {
    source,
    get roots() {
      return roots();
    },
  };
}

/** The largest published CRLs are about 20 MB long in DER, and a third longer in PEM. */
const MAX_CRL_FILE_LENGTH = 64 * 1024 * 1024;

export async function loadCrlFiles(paths: readonly string[]): Promise<readonly Crl[]> {
  const files: (readonly Crl[])[] = [];
  for (const path of paths) {
    const bytes = await readFileUpTo(path, MAX_CRL_FILE_LENGTH).catch((cause: unknown) => {
      throw verifyingErrors('crl-file-unreadable', { path, reason: systemReason(cause) }, { cause });
    });
    const crls = readCrls(bytes);
    if (typeof crls === 'string') throw verifyingErrors('crl-file-unusable', { path, problem: crls });
    files.push(crls);
  }
  return files.flat();
}
