import { secondOf } from '../../asn1/times.ts';
import { dateOf } from '../../certificates/signing-chain.ts';
import { againstWhat, type Finding } from '../../errors/finding.ts';
import {
  flatten,
  type Identity,
  type VerifiedFile,
  type VerifiedSignature,
  type VerifiedTimestamp,
} from '../../verifying/verdict.ts';
import { errorJson } from './json.ts';

/** Scripts read this document, so names of members must not change. */
export function verdictsJson(files: readonly VerifiedFile[], roots: string | undefined) {
  return { files: files.map(verifiedJson), summary: countVerdicts(files), roots: roots ?? null };
}

/** Counts verdicts in the order in which they occur, then warnings, if any. */
export function countVerdicts(files: readonly VerifiedFile[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { verdict } of files) {
    const word = verdict ?? 'failed';
    counts[word] = (counts[word] ?? 0) + 1;
  }
  const warnings = files.flatMap(warningsOf).length;
  return warnings === 0 ? counts : { ...counts, warnings };
}

export function warningsOf({ findings, signatures }: VerifiedFile): readonly Finding[] {
  const ofSignatures = flatten(signatures).flatMap((signature) => [
    ...signature.timestamps.flatMap((timestamp) => timestamp.findings),
    ...signature.findings,
  ]);
  return [...findings, ...ofSignatures].filter(({ weight }) => weight === 'warning');
}

export function findingJson(finding: Finding) {
  const { code, message, weight } = finding;
  return { code, message, against: againstWhat(finding), weight };
}

export function verifiedJson(file: VerifiedFile) {
  const { path, format, verdict, catalog, findings, signatures, error } = file;
  if (error !== undefined) return { path, format, verdict: null, error: errorJson(error) };
  return {
    path,
    format,
    verdict,
    ...(catalog !== undefined && { catalog }),
    integrity: integrityOf(file),
    trust: trustOf(file),
    findings: findings.map(findingJson),
    signatures: signatures.map(signatureJson),
  };
}

/** The result covers the file and all its signatures. It is null if the file has no signature. */
function integrityOf({ verdict }: VerifiedFile) {
  if (verdict === null || verdict === 'unsigned') return null;
  return verdict === 'broken' || verdict === 'unsupported' ? verdict : 'intact';
}

function trustOf({ verdict, signatures }: VerifiedFile) {
  switch (verdict) {
    case 'trusted':
    case 'untrusted':
      return verdict;
    case 'intact':
      return 'not-checked';
    case 'not-accepted':
      // All signatures have the same trust here: an untrusted one would have led to another verdict.
      return signatures[0]?.trust ?? null;
    default:
      return null;
  }
}

type SignatureJson = ReturnType<typeof describeSignature> & { readonly nested: readonly SignatureJson[] };

function signatureJson(signature: VerifiedSignature): SignatureJson {
  return { ...describeSignature(signature), nested: signature.nested.map(signatureJson) };
}

function describeSignature(signature: VerifiedSignature) {
  const { place, integrity, trust, algorithm, time, findings } = signature;
  return {
    place,
    integrity,
    trust,
    signer: identityJson(signature.signer),
    algorithm: algorithm ?? null,
    time: time === undefined ? null : secondOf(time),
    timestamps: signature.timestamps.map(timestampJson),
    findings: findings.map(findingJson),
  };
}

function timestampJson({ kind, time, integrity, trust, signer, findings }: VerifiedTimestamp) {
  return {
    kind,
    time: time === undefined ? null : secondOf(time),
    integrity,
    trust,
    signer: identityJson(signer),
    findings: findings.map(findingJson),
  };
}

function identityJson({ name, sha256, path, root }: Identity) {
  return {
    name,
    sha256: sha256 ?? null,
    root: root?.name ?? null,
    chain: path.map((certificate) => ({
      name: certificate.name,
      issuer: certificate.issuerName,
      notBefore: dateOf(certificate.notBefore),
      notAfter: dateOf(certificate.notAfter),
    })),
  };
}
