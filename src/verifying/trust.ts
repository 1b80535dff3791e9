/** Checks whether a signer's certificate has a path to a trusted root for a purpose and time, and is not revoked. */

import { secondOf } from '../asn1/times.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import { memoize } from '../bytes/reuse.ts';
import { buildPath } from '../certificates/build-path.ts';
import { hasSigned, isSelfSigned, type ParsedCertificate, parseCertificate } from '../certificates/certificate.ts';
import { isLifetimeSigner, type Purpose } from '../certificates/purpose.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { createWorkBudget, WORK, type WorkBudget } from '../crypto/work-budget.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { type Finding, hasFindingAgainst, note, untrusted, warning } from '../errors/finding.ts';
import type { Revocation } from './revocation.ts';
import type { TrustRoots } from './roots.ts';

export interface TrustRequest {
  readonly leaf: Uint8Array;
  /** Other certificates that may be part of the certification path, in DER and in any order. */
  readonly certificates: readonly Uint8Array[];
  readonly at: Date;
  readonly purpose: Purpose;
  /** Limit on the work for one file. By default, each call has its own limit. */
  readonly budget?: WorkBudget | undefined;
}

export interface Trust {
  readonly isTrusted: boolean;
  readonly path: readonly ParsedCertificate[];
  readonly root: ParsedCertificate | undefined;
  readonly findings: readonly Finding[];
}

export type ExamineTrust = (request: TrustRequest) => Promise<Trust>;

export interface TrustOptions {
  readonly roots: TrustRoots;
  readonly now: Date;
  /** If undefined, revocation is not checked. */
  readonly revocation?: Revocation | undefined;
}

/** A signature contains about ten certificates, including those of its timestamp. */
const MAX_CERTIFICATES = 500;
const MAX_REMEMBERED = 1000;

export function trustExaminer(options: TrustOptions): ExamineTrust {
  const parse = memoize(MAX_REMEMBERED, fingerprintOf, (der: Uint8Array) =>
    orUndefined(() => parseCertificate(der, 'certificate')),
  );
  const examine = (request: TrustRequest) => examineOnce(request, parse, options);
  // A result for which checks were skipped must not be reused for another file.
  return memoize(MAX_REMEMBERED, requestKey, examine, ({ budget }) => budget?.isSpent !== true);
}

type Parse = (der: Uint8Array) => ParsedCertificate | undefined;

async function examineOnce(request: TrustRequest, parse: Parse, options: TrustOptions): Promise<Trust> {
  const leaf = parse(request.leaf);
  if (leaf === undefined) {
    const message = "The signer's certificate cannot be read.";
    const findings: Finding[] = [untrusted('certificate-unreadable', message)];
    return { isTrusted: false, path: [], root: undefined, findings };
  }
  const given = request.certificates.slice(0, MAX_CERTIFICATES).map(parse);
  const pool = given.filter((certificate) => certificate !== undefined);
  const { roots, revocation } = options;
  const { at, purpose, budget = createWorkBudget() } = request;
  const path = buildPath(leaf, pool, roots.roots, at, purpose, budget);
  const last = path.certificates.at(-1) ?? leaf;
  const isRoot = path.isTrusted || (budget.take(WORK.issuerSignature) && isSelfSigned(last));
  const root = isRoot ? last : undefined;
  const findings = [
    ...path.findings,
    ...(path.isTrusted ? [] : [whyNotTrusted(path.certificates, root, roots.source)]),
    ...lifetimeFindings(leaf, request, options.now),
    ...(path.isTrusted && revocation !== undefined
      ? await examineRevocation(path.certificates, pool, budget, revocation, at)
      : []),
    ...poolFindings(request.certificates.length, given.length - pool.length),
  ];
  const isTrusted = path.isTrusted && !hasFindingAgainst(findings, 'trust');
  return { isTrusted, path: path.certificates, root, findings };
}

function whyNotTrusted(
  path: readonly ParsedCertificate[],
  root: ParsedCertificate | undefined,
  source: string,
): Finding {
  if (root !== undefined) {
    const what = path.length === 1 ? 'self-signed certificate' : 'root';
    const message = `The ${what} "${root.name}" is not among the trusted roots (${source}).`;
    return untrusted('root-not-trusted', message);
  }
  const last = path.at(-1);
  const message = `The issuer "${last?.issuerName}" of "${last?.name}" is neither in the signature nor among the trusted roots (${source}).`;
  return untrusted('chain-incomplete', message);
}

/** With lifetime signing (Authenticode), the certificate must be valid now, even if the signature has a timestamp. */
function lifetimeFindings(leaf: ParsedCertificate, { at, purpose }: TrustRequest, now: Date): Finding[] {
  if (purpose !== 'code-signing' || at > leaf.notAfter || now <= leaf.notAfter) return [];
  // `examinePath` reports damaged extensions.
  if (orUndefined(() => isLifetimeSigner(leaf.fields)) !== true) return [];
  const message = `The certificate of "${leaf.name}" expired on ${secondOf(leaf.notAfter)}. Its signatures expired too, even with a timestamp (lifetime signing).`;
  return [untrusted('certificate-expired', message)];
}

/**
 * Checks revocation from the root down, and only on a trusted path, so that requests go only to addresses from trusted
 * authorities. The certificates below a revoked authority are not checked.
 */
async function examineRevocation(
  certificates: readonly ParsedCertificate[],
  pool: readonly ParsedCertificate[],
  budget: WorkBudget,
  revocation: Revocation,
  at: Date,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let index = certificates.length - 2; index >= 0; index -= 1) {
    const certificate = certificates[index];
    const issuer = certificates[index + 1];
    if (certificate === undefined || issuer === undefined) break;
    const otherKeys = otherKeysOf(issuer, certificates.slice(index + 1), pool, budget);
    const found = await revocation.examine(certificate, issuer, at, otherKeys);
    for (const finding of found) findings.push(finding);
    if (found.some(({ code, weight }) => code === 'certificate-revoked' && weight === 'untrusted')) break;
  }
  return findings;
}

/**
 * Returns certificates with the issuer's name but another key, such as a renewed key or a key for signing CRLs. Each
 * must have been issued by the issuer, or by an authority above it (RFC 5280, section 6.3.3 (f)).
 */
function otherKeysOf(
  issuer: ParsedCertificate,
  authorities: readonly ParsedCertificate[],
  pool: readonly ParsedCertificate[],
  budget: WorkBudget,
): readonly ParsedCertificate[] {
  const isOther = ({ subjectKey, fields }: ParsedCertificate): boolean =>
    subjectKey === issuer.subjectKey && !isSameBytes(fields.publicKeyInfo, issuer.fields.publicKeyInfo);
  return [...authorities, ...pool]
    .filter(isOther)
    .filter((other) =>
      authorities.some(
        (authority) =>
          authority === other ||
          (authority.subjectKey === other.issuerKey &&
            budget.take(WORK.issuerSignature) &&
            hasSigned(authority, other)),
      ),
    );
}

function poolFindings(count: number, unreadable: number): Finding[] {
  const findings: Finding[] = [];
  if (count > MAX_CERTIFICATES) {
    const message = `The signature contains ${count} certificates; only ${MAX_CERTIFICATES} were used.`;
    findings.push(warning('too-many-certificates', message));
  }
  if (unreadable > 0) {
    const message = `${unreadable === 1 ? 'A certificate' : `${unreadable} certificates`} besides the signer's cannot be read.`;
    findings.push(note('certificate-unreadable', message));
  }
  return findings;
}

/** The key contains all inputs of the result, so a file without an intermediate certificate affects no other file. */
function requestKey({ leaf, certificates, at, purpose }: TrustRequest): string {
  const digests = [leaf, ...certificates.slice(0, MAX_CERTIFICATES)].map(fingerprintOf).join();
  return `${purpose} ${at.getTime()} ${certificates.length} ${fingerprintOf(Buffer.from(digests))}`;
}
