import { isSameBytes } from '../bytes/byte-source.ts';
import { lazy } from '../bytes/reuse.ts';
import { BUDGET_SPENT, createWorkBudget, WORK, type WorkBudget } from '../crypto/work-budget.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { type Finding, hasFindingAgainst, isAgainst, untrusted } from '../errors/finding.ts';
import { authorityKeyIdentifierOf, hasSigned, type ParsedCertificate, subjectKeyIdentifierOf } from './certificate.ts';
import { examinePath } from './examine-path.ts';
import type { Purpose } from './purpose.ts';

export interface CertificatePath {
  readonly certificates: readonly ParsedCertificate[];
  /**
   * True if the path ends at a certificate with the subject and key of a trusted root, or if the leaf itself is one of
   * the roots.
   */
  readonly isTrusted: boolean;
  readonly findings: readonly Finding[];
}

/** Renewed and cross-signed certificates have the same name as the original. */
const MAX_NAMESAKES = 100;
const MAX_LENGTH = 12;

/**
 * Builds a certification path (RFC 4158; RFC 5280, section 6). Prefers a trusted path without objections, then any
 * trusted path, then the longest path. With `purpose`, findings also say why the leaf or its issuers may not be used
 * for this purpose. Adds a finding if the `budget` is used up.
 */
export function buildPath(
  leaf: ParsedCertificate,
  pool: readonly ParsedCertificate[],
  roots: readonly ParsedCertificate[],
  at: Date,
  purpose?: Purpose,
  budget: WorkBudget = createWorkBudget(),
): CertificatePath {
  const rootsByName = byName(roots);
  const isRoot = (certificate: ParsedCertificate): boolean =>
    (rootsByName.get(certificate.subjectKey) ?? []).some((root) => isSameAuthority(root, certificate));
  const isListed = ({ subjectKey, der }: ParsedCertificate): boolean =>
    (rootsByName.get(subjectKey) ?? []).some((root) => isSameBytes(root.der, der));
  const issuersOf = issuerFinder(rootsByName, byName(pool), isRoot, at, budget);
  let best: CertificatePath | undefined;
  let longest: readonly ParsedCertificate[] = [leaf];

  const walk = (path: readonly ParsedCertificate[], last: ParsedCertificate): boolean => {
    if (!budget.take(WORK.pathStep)) return true;
    // The owner of a leaf's private key could issue another certificate with any purpose and lifetime.
    if (last === leaf ? isListed(leaf) : isRoot(last)) {
      if (!budget.take(WORK.path)) return true;
      const findings = examinePath({ certificates: path, isAnchored: true, at, purpose });
      if (best === undefined || objections(findings) < objections(best.findings)) {
        best = { certificates: path, isTrusted: true, findings };
      }
      return !hasFindingAgainst(best.findings, 'trust');
    }
    if (path.length > longest.length) longest = path;
    if (path.length === MAX_LENGTH) return false;
    for (const issuer of issuersOf(last)) {
      // A path with the same authority twice is a loop, even if the two certificates differ (RFC 4158, section 5.2).
      if (!path.some((one) => isSameAuthority(one, issuer)) && walk([...path, issuer], issuer)) return true;
    }
    return false;
  };
  const examineUntrusted = (certificates: readonly ParsedCertificate[]): readonly Finding[] =>
    budget.take(WORK.path) ? examinePath({ certificates, isAnchored: false, at, purpose }) : [];
  walk([leaf], leaf);
  const found = best ?? { certificates: longest, isTrusted: false, findings: examineUntrusted(longest) };
  return budget.isSpent ? { ...found, findings: [...found.findings, spent(leaf)] } : found;
}

function spent({ name }: ParsedCertificate): Finding {
  const message = `The search for the issuers of "${name}" was stopped: the file needs too many checks.`;
  return untrusted(BUDGET_SPENT, message);
}

function objections(findings: readonly Finding[]): number {
  return findings.filter((finding) => isAgainst(finding, 'trust')).length;
}

type ByName = ReadonlyMap<string, readonly ParsedCertificate[]>;

/** Removes duplicates. Limits the certificates with one name, so that a hostile file cannot exhaust the search. */
function byName(certificates: readonly ParsedCertificate[]): ByName {
  const bySubject = new Map<string, ParsedCertificate[]>();
  for (const certificate of certificates) {
    const known = bySubject.get(certificate.subjectKey);
    if (known === undefined) bySubject.set(certificate.subjectKey, [certificate]);
    else if (known.length < MAX_NAMESAKES && !known.some((one) => isSameBytes(one.der, certificate.der))) {
      known.push(certificate);
    }
  }
  return bySubject;
}

/** Yields issuers whose key verifies the signature: first trusted roots, then other issuers, the most likely first. */
function issuerFinder(
  roots: ByName,
  pool: ByName,
  isRoot: (one: ParsedCertificate) => boolean,
  at: Date,
  budget: WorkBudget,
): (certificate: ParsedCertificate) => Iterable<ParsedCertificate> {
  const candidatesOf = new Map<ParsedCertificate, readonly Candidate[]>();
  const findCandidates = (certificate: ParsedCertificate): readonly Candidate[] => {
    const name = certificate.issuerKey;
    // A cross-signed or renewed certificate of a trusted root is never better than the root.
    const others = (pool.get(name) ?? []).filter((one) => !isRoot(one));
    const sorted = [...byPromise(roots.get(name) ?? [], certificate, at), ...byPromise(others, certificate, at)];
    return sorted.map((one) => ({
      one,
      verifies: lazy(() => budget.take(WORK.issuerSignature) && hasSigned(one, certificate)),
    }));
  };
  return function* issuersOf(certificate) {
    const candidates = candidatesOf.get(certificate) ?? findCandidates(certificate);
    candidatesOf.set(certificate, candidates);
    for (const { one, verifies } of candidates) if (verifies()) yield one;
  };
}

interface Candidate {
  readonly one: ParsedCertificate;
  readonly verifies: () => boolean;
}

function byPromise(
  candidates: readonly ParsedCertificate[],
  issued: ParsedCertificate,
  at: Date,
): readonly ParsedCertificate[] {
  if (candidates.length < 2) return candidates;
  // `examinePath` reports a damaged key identifier.
  const wanted = orUndefined(() => authorityKeyIdentifierOf(issued.fields));
  const promise = (one: ParsedCertificate): number => {
    const isValid = one.notBefore <= at && at <= one.notAfter;
    const own = wanted && orUndefined(() => subjectKeyIdentifierOf(one.fields));
    const isNamed = wanted !== undefined && own !== undefined && isSameBytes(wanted, own);
    return Number(isNamed) * 2 + Number(isValid);
  };
  return candidates
    .map((one) => ({ one, promise: promise(one) }))
    .sort((a, b) => b.promise - a.promise || b.one.notAfter.getTime() - a.one.notAfter.getTime())
    .map(({ one }) => one);
}

function isSameAuthority(a: ParsedCertificate, b: ParsedCertificate): boolean {
  return a === b || (a.subjectKey === b.subjectKey && isSameBytes(a.fields.publicKeyInfo, b.fields.publicKeyInfo));
}
