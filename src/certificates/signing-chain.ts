import type { KeyObject } from 'node:crypto';
import { secondOf } from '../asn1/times.ts';
import type { Secret } from '../secrets/secret.ts';
import { buildPath } from './build-path.ts';
import {
  type Certificate,
  extendedKeyUsageOf,
  hasSigned,
  isSelfSigned,
  type ParsedCertificate,
  parseCertificate,
  publicKeyOf,
} from './certificate.ts';
import { type CertificateFile, readContainer } from './certificate-files.ts';
import { certificateErrors, certificateWarnings } from './errors.ts';
import { PURPOSES, type Purpose, purposeOddity, purposeProblem } from './purpose.ts';

export interface SigningChain {
  readonly leaf: ParsedCertificate;
  readonly publicKey: KeyObject;
  /** Length of the RSA modulus in bytes. */
  readonly signatureLength: number;
  /** The leaf, then each issuer, with the root if the user provided it. */
  readonly certificates: readonly Certificate[];
  /** Certificates to embed: all except the root, which verifiers already have. A self-signed leaf is included. */
  readonly withoutRoot: readonly Certificate[];
  readonly warnings: readonly string[];
}

/** Current verifiers reject shorter keys, and OpenSSL rejects longer keys. */
const LEAST_BITS = 2048;
const MOST_BITS = 16_384;
const NEARLY_EXPIRED_DAYS = 30;
const DAY = 24 * 60 * 60 * 1000;

function checkLeaf(leaf: ParsedCertificate, { now, purposes }: ReadSigningChainOptions) {
  const { name, fields, notBefore, notAfter } = leaf;
  const publicKey = publicKeyOf(leaf);
  const keyType = publicKey?.asymmetricKeyType ?? 'unknown';
  if (publicKey === undefined || keyType !== 'rsa') throw certificateErrors('certificate-not-rsa', { name, keyType });
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < LEAST_BITS || bits > MOST_BITS) {
    throw certificateErrors('certificate-key-size', { name, bits, least: LEAST_BITS, most: MOST_BITS });
  }
  checkPurpose(leaf, purposes);
  if (now < notBefore)
    throw certificateErrors('certificate-not-yet-valid', { name, date: dayOrSecond(notBefore, now) });
  if (now > notAfter) throw certificateErrors('certificate-expired', { name, date: dayOrSecond(notAfter, now) });

  const warnings: string[] = [];
  if (notAfter.getTime() - now.getTime() < NEARLY_EXPIRED_DAYS * DAY) {
    warnings.push(certificateWarnings('certificate-expires-soon', { name, date: dateOf(notAfter) }));
  }
  if (extendedKeyUsageOf(fields) === undefined) {
    warnings.push(certificateWarnings('certificate-without-purpose', { name }));
  }
  return { publicKey, signatureLength: Math.ceil(bits / 8), warnings };
}

type NamedFields = Pick<ParsedCertificate, 'fields' | 'name'>;

export function checkPurpose({ fields, name }: NamedFields, purposes: readonly Purpose[]): void {
  const problems = purposes.map((purpose) => purposeProblem(fields, purpose));
  const [purpose] = purposes;
  const [problem] = problems;
  if (purpose === undefined || problem === undefined || problems.includes(undefined)) return;
  if (purpose === 'code-signing') throw certificateErrors('certificate-not-for-code-signing', { name, problem });
  throw certificateErrors('certificate-not-for-purpose', { name, purpose: PURPOSES[purpose].name, problem });
}

export function purposeWarnings({ fields, name }: NamedFields, purpose: Purpose): readonly string[] {
  const oddity = purposeOddity(fields, purpose);
  return oddity === undefined
    ? []
    : [certificateWarnings('certificate-hardly-suitable', { name, use: PURPOSES[purpose].use, oddity })];
}

/** Returns the date. If the date is today, the time is included. */
function dayOrSecond(time: Date, now: Date): string {
  return dateOf(time) === dateOf(now) ? secondOf(time) : dateOf(time);
}

export function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

interface ReadSigningChainOptions {
  readonly now: Date;
  readonly password?: Secret | undefined;
  /** At least one purpose must be permitted. Each format later checks for its own purpose. */
  readonly purposes: readonly Purpose[];
}

/** Sorting 200 certificates with identical names takes seconds. There are about 150 public roots. */
const MAX_CERTIFICATES = 200;
const NAMES_SHOWN = 5;

/** Reads PEM, DER, PKCS#7 or PKCS#12 files in any order. Names are not escaped: they may contain control characters. */
export async function readSigningChain(
  inputs: readonly CertificateFile[],
  options: ReadSigningChainOptions,
): Promise<SigningChain> {
  if (inputs.length === 0) throw certificateErrors('certificate-not-given');
  const certificates = await readCertificates(inputs, options.password);
  const sorted = sortChain(certificates, options.now);
  const { leaf } = sorted;
  const { publicKey, signatureLength, warnings } = checkLeaf(leaf, options);
  return {
    leaf,
    publicKey,
    signatureLength,
    certificates: [leaf, ...sorted.issuers],
    // An authority can have the same name as its issuer. Only the signature distinguishes its certificate from a root.
    withoutRoot: [leaf, ...sorted.issuers.filter((issuer) => !isSelfSigned(issuer))],
    warnings: [...warnings, ...chainWarnings(sorted, options.now)],
  };
}

async function readCertificates(
  inputs: readonly CertificateFile[],
  password: Secret | undefined,
): Promise<ParsedCertificate[]> {
  const distinct = new Map<string, { readonly der: Uint8Array; readonly file: string }>();
  for (const input of inputs) {
    for (const der of await readContainer(input, password)) {
      distinct.set(Buffer.from(der).toString('latin1'), { der, file: input.name });
      if (distinct.size > MAX_CERTIFICATES) {
        throw certificateErrors('certificate-bundle-too-large', { limit: MAX_CERTIFICATES });
      }
    }
  }
  return [...distinct.values()].map(({ der, file }) => parseCertificate(der, file));
}

function chainWarnings({ leaf, issuers, unrelated }: SortedChain, now: Date): string[] {
  const warnings: string[] = [];
  for (const { name, notAfter } of issuers) {
    if (now > notAfter) warnings.push(certificateWarnings('issuer-expired', { name, date: dateOf(notAfter) }));
  }
  const last = issuers.at(-1) ?? leaf;
  if (!isSelfSigned(last)) {
    // A chain without its root is complete, because the root is not embedded.
    if (issuers.length === 0) {
      warnings.push(certificateWarnings('issuer-not-given', { issuer: last.issuerName }));
    } else if (unrelated.some(({ x509 }) => x509.ca)) {
      warnings.push(certificateWarnings('chain-gap', { issuer: last.issuerName, name: last.name }));
    }
  }
  if (unrelated.length > 0) {
    const names = unrelated.slice(0, NAMES_SHOWN).map(({ name }) => `"${name}"`);
    const more = unrelated.length > NAMES_SHOWN ? ` and ${unrelated.length - NAMES_SHOWN} more` : '';
    warnings.push(certificateWarnings('certificates-unused', { names: names.join(', ') + more }));
  }
  return warnings;
}

type SortedChain = ReturnType<typeof sortChain>;

/** `certificates` must be distinct, and not empty. Throws `certificate-leaf-ambiguous`. */
function sortChain(certificates: readonly ParsedCertificate[], now: Date) {
  const leaf = findLeaf(certificates);
  const roots = certificates.filter((certificate) => certificate !== leaf && isSelfSigned(certificate));
  const [, ...issuers] = buildPath(leaf, certificates, roots, now).certificates;
  const unrelated = certificates.filter((certificate) => certificate !== leaf && !issuers.includes(certificate));
  return { leaf, issuers, unrelated };
}

/**
 * A leaf is a certificate that issued none of the others. Prefers certificates that do not belong to authorities, then
 * certificates for code signing.
 */
function findLeaf(certificates: readonly ParsedCertificate[]): ParsedCertificate {
  const hasIssued = (issuer: ParsedCertificate): boolean =>
    certificates.some((certificate) => certificate !== issuer && hasSigned(issuer, certificate));
  let candidates = certificates.filter((one) => !hasIssued(one));
  const preferences: readonly ((candidate: ParsedCertificate) => boolean)[] = [
    (candidate) => !candidate.x509.ca,
    (candidate) => purposeProblem(candidate.fields, 'code-signing') === undefined,
    (candidate) => extendedKeyUsageOf(candidate.fields) !== undefined,
  ];
  for (const preferred of preferences) {
    if (candidates.length > 1 && candidates.some(preferred)) candidates = candidates.filter(preferred);
  }
  const [leaf, ...rivals] = candidates;
  if (leaf !== undefined && rivals.length === 0) return leaf;
  const names = (leaf === undefined ? certificates : candidates).slice(0, NAMES_SHOWN).map(({ name }) => `"${name}"`);
  throw certificateErrors('certificate-leaf-ambiguous', { names: names.join(', ') });
}
