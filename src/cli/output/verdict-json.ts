import { secondOf } from '../../asn1/times.ts';
import { dateOf } from '../../certificates/signing-chain.ts';
import type { Identity, VerifiedFile, VerifiedSignature, VerifiedTimestamp } from '../../verifying/verdict.ts';
import { errorJson } from './json.ts';

/** Its members are fixed: scripts read them. `roots`: source of the trusted roots; undefined if trust was not checked. */
export function verdictsJson(files: readonly VerifiedFile[], roots: string | undefined) {
  return { files: files.map(fileJson), summary: countVerdicts(files), roots: roots ?? null };
}

/** By verdict, in the order in which the verdicts occur. */
export function countVerdicts(files: readonly VerifiedFile[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { verdict } of files) {
    const word = verdict ?? 'failed';
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

function fileJson(file: VerifiedFile) {
  const { path, format, verdict, catalog, findings, signatures, error } = file;
  if (error !== undefined) return { path, format, verdict: null, error: errorJson(error) };
  return {
    path,
    format,
    verdict,
    ...(catalog !== undefined && { catalog }),
    integrity: integrityOf(file),
    trust: trustOf(file),
    findings,
    signatures: signatures.map(signatureJson),
  };
}

/** For the file and all its signatures; null without a signature. */
function integrityOf({ verdict }: VerifiedFile) {
  if (verdict === null || verdict === 'unsigned') return null;
  return verdict === 'broken' ? 'broken' : 'intact';
}

/** Null for broken and unsigned files. */
function trustOf({ verdict, signatures }: VerifiedFile) {
  switch (verdict) {
    case 'trusted':
    case 'untrusted':
      return verdict;
    case 'intact':
      return 'not-checked';
    case 'not-accepted':
      // All signatures have the same trust: an untrusted one would be the verdict.
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
    findings,
  };
}

function timestampJson({ kind, time, integrity, trust, signer, findings }: VerifiedTimestamp) {
  return {
    kind,
    time: time === undefined ? null : secondOf(time),
    integrity,
    trust,
    signer: identityJson(signer),
    findings,
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
