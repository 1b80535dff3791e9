import { extendedKeyUsageOf } from './certificate-fields.ts';
import { certificateErrors } from './errors.ts';
import { hasSigned, isSelfSigned, type ParsedCertificate } from './parsed-certificate.ts';
import { allowsCodeSigning } from './purpose.ts';

export interface SortedChain {
  readonly leaf: ParsedCertificate;
  /** From the leaf's issuer up to a self-signed certificate, or to where the next issuer was not given. */
  readonly issuers: readonly ParsedCertificate[];
  /** Given, but no part of the chain. */
  readonly unrelated: readonly ParsedCertificate[];
}

/** Signature checks for one bundle: an honest one needs one or two for each certificate. */
const MAX_CHECKS = 1500;

/** Sorts certificates without duplicates, at least one. Throws `certificate-leaf-ambiguous`, `certificate-bundle-too-large`. */
export function sortChain(certificates: readonly ParsedCertificate[], now: Date): SortedChain {
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
  return { leaf, issuers, unrelated };
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

/** The one that issued nobody here; among several, the one that is no authority; then, that is meant for code signing. */
function findLeaf(certificates: readonly ParsedCertificate[], issuersOf: IssuersOf): ParsedCertificate {
  const [first, ...others] = certificates;
  if (first !== undefined && others.length === 0) return first;

  const issuers = new Set(certificates.flatMap((certificate) => issuersOf(certificate)));
  let candidates = certificates.filter((certificate) => !issuers.has(certificate));
  const preferences: readonly ((candidate: ParsedCertificate) => boolean)[] = [
    (candidate) => !candidate.x509.ca,
    (candidate) => allowsCodeSigning(candidate.fields),
    (candidate) => extendedKeyUsageOf(candidate.fields) !== undefined,
  ];
  for (const preferred of preferences) {
    if (candidates.length > 1 && candidates.some(preferred)) candidates = candidates.filter(preferred);
  }
  const [leaf, ...rivals] = candidates;
  if (leaf !== undefined && rivals.length === 0) return leaf;
  const names = (leaf === undefined ? certificates : candidates).slice(0, 5).map(({ name }) => name);
  throw certificateErrors('certificate-leaf-ambiguous', { names: names.join('; ') });
}

/** Several issuers of the same name and key: renewed or cross-signed. The one that is valid, then for longest. */
function bestIssuer(candidates: readonly ParsedCertificate[], now: Date): ParsedCertificate | undefined {
  const isValid = ({ notBefore, notAfter }: ParsedCertificate) => notBefore <= now && now <= notAfter;
  return [...candidates].sort(
    (a, b) => Number(isValid(b)) - Number(isValid(a)) || b.notAfter.getTime() - a.notAfter.getTime(),
  )[0];
}
