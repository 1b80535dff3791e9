import type { KeyObject } from 'node:crypto';
import { secondOf } from '../asn1/times.ts';
import type { Secret } from '../secrets/secret.ts';
import { extendedKeyUsageOf } from './certificate-fields.ts';
import { certificateErrors, certificateWarnings } from './errors.ts';
import {
  type Certificate,
  hasSigned,
  isSelfSigned,
  type ParsedCertificate,
  parseCertificate,
  publicKeyOf,
} from './parsed-certificate.ts';
import type { CertificateFile } from './pkcs12.ts';
import { PURPOSES, type Purpose, purposeOddity, purposeProblem } from './purpose.ts';
import { readContainer } from './read-containers.ts';

export interface SigningChain {
  readonly leaf: ParsedCertificate;
  /** The leaf's RSA public key. */
  readonly publicKey: KeyObject;
  /** When the leaf expires. */
  readonly notAfter: Date;
  /** Length of the RSA modulus, and so of a signature, in bytes. */
  readonly signatureLength: number;
  /** Leaf first, then each issuer in turn, the self-signed root included where it was given. */
  readonly certificates: readonly Certificate[];
  /** The same without that root, which a verifier must have anyway; a self-signed leaf stays, since it is the signer. */
  readonly withoutRoot: readonly Certificate[];
  /** A gap in the chain, an expiry that is near, each as `certificateWarnings` words it. */
  readonly warnings: readonly string[];
}

/** Shorter keys are refused by every verifier of today, longer ones by OpenSSL. */
const LEAST_BITS = 2048;
const MOST_BITS = 16_384;
const NEARLY_EXPIRED_DAYS = 30;
const DAY = 24 * 60 * 60 * 1000;

/** Throws `certificate-not-rsa`, `-key-size`, `-not-for-…`, `-not-yet-valid`, `-expired`. */
function checkLeaf(leaf: ParsedCertificate, { now, purposes }: ReadSigningChainOptions) {
  const { name, fields, notBefore, notAfter } = leaf;
  const publicKey = publicKeyOf(leaf);
  const keyType = publicKey?.asymmetricKeyType ?? 'unknown';
  if (publicKey === undefined || keyType !== 'rsa') throw certificateErrors('certificate-not-rsa', { name, keyType });
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < LEAST_BITS || bits > MOST_BITS) {
    throw certificateErrors('certificate-key-size', { name, bits, least: LEAST_BITS, most: MOST_BITS });
  }
  if (purposes !== undefined) requirePurpose(leaf, purposes);
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

/** Throws `certificate-not-for-code-signing`, `certificate-not-for-purpose` for a certificate that has none of the purposes. */
export function requirePurpose({ fields, name }: NamedFields, purposes: readonly Purpose[]): void {
  const problems = purposes.map((purpose) => purposeProblem(fields, purpose));
  const [purpose] = purposes;
  const [problem] = problems;
  if (purpose === undefined || problem === undefined || problems.includes(undefined)) return;
  if (purpose === 'code-signing') throw certificateErrors('certificate-not-for-code-signing', { name, problem });
  throw certificateErrors('certificate-not-for-purpose', { name, purpose: PURPOSES[purpose].name, problem });
}

/** Warnings about what is odd about a certificate that has the purpose. */
export function purposeWarnings({ fields, name }: NamedFields, purpose: Purpose): readonly string[] {
  const oddity = purposeOddity(fields, purpose);
  return oddity === undefined
    ? []
    : [certificateWarnings('certificate-hardly-suitable', { name, use: PURPOSES[purpose].use, oddity })];
}

/** The time to the second if it is on the day of `now`. */
function dayOrSecond(time: Date, now: Date): string {
  return dateOf(time) === dateOf(now) ? secondOf(time) : dateOf(time);
}

/** The day, as ISO 8601 has it, in UTC. */
export function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export interface ReadSigningChainOptions {
  readonly now: Date;
  /** Opens PKCS#12 files. */
  readonly password?: Secret | undefined;
  /** The leaf must have one of them; undefined for any leaf. Each format checks its own again. */
  readonly purposes?: readonly Purpose[];
}

/** A bundle of every public root has about 150. */
const MAX_CERTIFICATES = 500;
const NAMES_SHOWN = 5;

/**
 * Reads the files in any order, each PEM, DER, PKCS#7 or PKCS#12, and gives the chain of the one certificate among them
 * that can sign code. Names in it and in its warnings are as the certificates have them: escape them where they are shown.
 * Throws `certificate-…` (see `certificateErrors`).
 */
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
    notAfter: leaf.notAfter,
    signatureLength,
    certificates: [leaf, ...sorted.issuers].map(named),
    // An authority may bear its issuer's name: only its signature distinguishes it from a root.
    withoutRoot: [leaf, ...sorted.issuers.filter((issuer) => !isSelfSigned(issuer))].map(named),
    warnings: [...warnings, ...chainWarnings(sorted, options.now)],
  };
}

/** Facts about the chain that a run finds out once. */
function named({ der, name }: ParsedCertificate): Certificate {
  return { der, name };
}

/** All certificates of all files, each once. */
async function readCertificates(
  inputs: readonly CertificateFile[],
  password: Secret | undefined,
): Promise<ParsedCertificate[]> {
  const distinct = new Map<string, { readonly der: Uint8Array; readonly file: string }>();
  for (const input of inputs) {
    for (const der of await readContainer(input, password)) {
      distinct.set(Buffer.from(der).toString('latin1'), { der, file: input.name });
      if (distinct.size > MAX_CERTIFICATES) {
        throw certificateErrors('certificate-bundle-too-large', { limit: MAX_CERTIFICATES, what: 'certificates' });
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
    // A chain up to an intermediate lacks only its root, which is not embedded anyway.
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

/** Signature checks for one bundle: an honest one needs one or two for each certificate. */
const MAX_CHECKS = 1500;

type SortedChain = ReturnType<typeof sortChain>;

/** Sorts certificates without duplicates, at least one. Throws `certificate-leaf-ambiguous`, `certificate-bundle-too-large`. */
export function sortChain(certificates: readonly ParsedCertificate[], now: Date) {
  const issuersOf = issuerFinder(certificates);
  const leaf = findLeaf(certificates, issuersOf);
  const issuers: ParsedCertificate[] = [];
  for (let last = leaf; !isSelfSigned(last); ) {
    const candidates = issuersOf(last).filter((issuer) => issuer !== leaf && !issuers.includes(issuer));
    const issuer = bestIssuer(candidates, now);
    if (issuer === undefined) break;
    issuers.push(issuer);
    last = issuer;
  }
  const unrelated = certificates.filter((certificate) => certificate !== leaf && !issuers.includes(certificate));
  return {
    leaf,
    /** From the leaf's issuer up to a self-signed certificate, or to where the next issuer was not given. */
    issuers,
    /** Given, but no part of the chain. */
    unrelated,
  };
}

type IssuersOf = (certificate: ParsedCertificate) => readonly ParsedCertificate[];

/** Looks up by name, then checks signatures; each answer is found once, the number of checks is bounded. */
function issuerFinder(certificates: readonly ParsedCertificate[]): IssuersOf {
  const bySubject = new Map<string, ParsedCertificate[]>();
  for (const certificate of certificates) {
    const namesakes = bySubject.get(certificate.subjectKey);
    if (namesakes === undefined) bySubject.set(certificate.subjectKey, [certificate]);
    else namesakes.push(certificate);
  }
  const found = new Map<ParsedCertificate, readonly ParsedCertificate[]>();
  let checks = 0;
  return (certificate) => {
    const known = found.get(certificate);
    if (known !== undefined) return known;
    const candidates = bySubject.get(certificate.issuerKey) ?? [];
    checks += candidates.length;
    if (checks > MAX_CHECKS) {
      throw certificateErrors('certificate-bundle-too-large', { limit: MAX_CHECKS, what: 'possible issuers' });
    }
    const issuers = candidates.filter((issuer) => issuer !== certificate && hasSigned(issuer, certificate));
    found.set(certificate, issuers);
    return issuers;
  };
}

/** The one that issued none of the others; among several, the one that is not an authority, then the one for code signing. */
function findLeaf(certificates: readonly ParsedCertificate[], issuersOf: IssuersOf): ParsedCertificate {
  const [first, ...others] = certificates;
  if (first !== undefined && others.length === 0) return first;

  const issuers = new Set(certificates.flatMap((certificate) => issuersOf(certificate)));
  let candidates = certificates.filter((certificate) => !issuers.has(certificate));
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
  const names = (leaf === undefined ? certificates : candidates).slice(0, 5).map(({ name }) => `"${name}"`);
  throw certificateErrors('certificate-leaf-ambiguous', { names: names.join(', ') });
}

/** Several issuers of the same name and key: renewed or cross-signed. The one that is valid, then for longest. */
function bestIssuer(candidates: readonly ParsedCertificate[], now: Date): ParsedCertificate | undefined {
  const isValid = ({ notBefore, notAfter }: ParsedCertificate) => notBefore <= now && now <= notAfter;
  return [...candidates].sort(
    (a, b) => Number(isValid(b)) - Number(isValid(a)) || b.notAfter.getTime() - a.notAfter.getTime(),
  )[0];
}
