import { DIGEST_OID } from '../asn1/algorithm-identifiers.ts';
import { secondOf } from '../asn1/times.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import { buildPath } from '../certificates/build-path.ts';
import { type ParsedCertificate, parseCertificate } from '../certificates/certificate.ts';
import { examinePath } from '../certificates/examine-path.ts';
import { digestOfContent, type SignedContent } from '../cms/verify-signer.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { type Finding, isObjection } from '../errors/finding.ts';
import { CLOCK_DIFFERS } from './errors.ts';
import { readToken, type TokenReading } from './read-token.ts';
import { isSameInteger, readTimestampResponse, type TimestampRequest } from './request.ts';
import type { Timestamp } from './timestamp.ts';
import type { TstInfo } from './tst-info.ts';

export interface AuthorityRoots {
  readonly roots: readonly ParsedCertificate[];
  readonly source: string;
}

export interface ExpectedAnswer extends Omit<TimestampRequest, 'digest'> {
  readonly signatureValue: SignedContent;
  readonly now: Date;
  /** The token's chain must end at one of these roots; undefined allows any chain. */
  readonly roots?: AuthorityRoots | undefined;
}

export type CheckedToken = Readonly<{ token: Uint8Array; time: Date }>;

/** The refusal may contain control characters. */
type CheckedAnswer = CheckedToken | { readonly refusal: string };

/** A clock without NTP can be wrong by minutes. */
export const MAX_CLOCK_DIFFERENCE = 10 * 60 * 1000;

/** Checks the response as a verifier would, and compares it with the request. Never throws. */
export function checkAnswer(body: Uint8Array, asked: ExpectedAnswer): CheckedAnswer {
  if (body.length === 0) return { refusal: 'the response is empty' };
  try {
    const response = readTimestampResponse(body);
    if ('refusal' in response) return { refusal: `it rejects the request: ${response.refusal}` };
    return checkToken(readToken(response.token, asked.signatureValue), asked);
  } catch (thrown) {
    return { refusal: `the response is not a timestamp (${expectedError(thrown).message})` };
  }
}

function checkToken({ timestamp, info }: TokenReading, asked: ExpectedAnswer): CheckedAnswer {
  if (info === undefined) return { refusal: sentences(timestamp, asked.algorithm) || 'the timestamp cannot be read' };
  const refusal =
    differenceFrom(asked, info) ??
    (sentences(timestamp, asked.algorithm) || pathProblem(timestamp, info.time, asked.roots));
  return refusal === undefined ? { token: timestamp.bytes, time: info.time } : { refusal };
}

function differenceFrom(
  { algorithm, signatureValue, policy, nonce, now }: ExpectedAnswer,
  info: TstInfo,
): string | undefined {
  const { imprint, time } = info;
  if (imprint.algorithm !== DIGEST_OID[algorithm]) {
    return `its timestamp uses the digest algorithm ${imprint.algorithm} instead of ${algorithm}`;
  }
  if (!isSameBytes(imprint.digest, digestOfContent(signatureValue, NODE_DIGEST_NAME[algorithm]))) {
    return 'its timestamp is for other data';
  }
  if (info.nonce === undefined) return 'its timestamp lacks the nonce of the request';
  if (!isSameInteger(info.nonce, nonce)) return 'its timestamp has the nonce of another request';
  if (policy !== undefined && info.policy !== policy)
    return `its timestamp has the policy ${info.policy} instead of ${policy}`;
  if (Math.abs(time.getTime() - now.getTime()) > MAX_CLOCK_DIFFERENCE) {
    return `its timestamp says ${secondOf(time)}, but this machine's clock says ${secondOf(now)}${CLOCK_DIFFERS}`;
  }
  return undefined;
}

/** Some verifiers reject unusual purposes and SHA-1. Java then treats the JAR as unsigned. */
function sentences({ findings }: Timestamp, algorithm: DigestAlgorithm): string {
  const refused = ['timestamp-purpose', ...(algorithm === 'SHA1' ? [] : ['timestamp-algorithm-weak'])];
  return findings
    .filter((finding) => isObjection(finding) || refused.includes(finding.code))
    .map(({ message }) => message)
    .join(' ');
}

/**
 * Without `roots`, accepts any root, and an expired cross-certificate above the issuer: some verifiers need such a
 * certificate, others have a newer root.
 */
function pathProblem(
  { signerCertificate, certificates }: Timestamp,
  time: Date,
  trusted: AuthorityRoots | undefined,
): string | undefined {
  if (signerCertificate === undefined) return 'its timestamp contains no certificate';
  const leaf = parseCertificate(signerCertificate, 'timestamp');
  const pool = certificates.map((der) => parseCertificate(der, 'timestamp'));
  const { findings, isTrusted, ...path } = buildPath(leaf, pool, trusted?.roots ?? [], time, 'time-stamping');
  const problem = firstProblem(findings);
  if (trusted !== undefined) {
    return isTrusted ? problem : `the certificate chain of its timestamp does not end at a root in ${trusted.source}`;
  }
  if (problem === undefined) return undefined;
  const nearby = path.certificates.slice(0, 2);
  const nearest = examinePath({ certificates: nearby, isAnchored: false, at: time, purpose: 'time-stamping' });
  return firstProblem(nearest) === undefined && isAboutTime(findings) ? undefined : problem;
}

function firstProblem(findings: readonly Finding[]): string | undefined {
  return findings.find(isObjection)?.message;
}

function isAboutTime(findings: readonly Finding[]): boolean {
  return findings.every((finding) => !isObjection(finding) || finding.code === 'certificate-expired');
}
