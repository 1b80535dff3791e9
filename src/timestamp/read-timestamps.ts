import { DIGEST_NAME_BY_OID } from '../asn1/algorithm-identifiers.ts';
import { DATA, SIGNING_TIME, TST_INFO } from '../asn1/object-identifiers.ts';
import { readElement } from '../asn1/read.ts';
import { readTime } from '../asn1/times.ts';
import { cmsErrors } from '../cms/errors.ts';
import { attributeValues, parseSignerInfo, type SignedData, type SignerInfo } from '../cms/parse-signed-data.ts';
import { examineSigner, type SignerRules } from '../cms/verify-signer.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import { readTimestampToken, unreadableTimestamp } from './read-token.ts';
import { asTimestampFinding, examineDigests, examinePurpose, type Timestamp } from './timestamp.ts';

export type Stamp = Pick<Timestamp, 'kind' | 'bytes'>;

/** Returns the timestamps of a signature, up to a limit. */
export type ReadTimestamps = (stamps: readonly Stamp[], signedData: SignedData) => readonly Timestamp[];

/** Most signatures have one or two timestamps. */
const MOST_OF_ONE = 16;
/** Limit on the work for all timestamps in a file. A valid timestamp costs about six units. */
const MOST_IN_ALL = 300;
const KIB = 1024;

/** Reports timestamps above the limit as unreadable. */
export function timestampReader(budget?: WorkBudget): ReadTimestamps {
  let room = MOST_IN_ALL;
  const read = ({ kind, bytes }: Stamp, { signers, certificates }: SignedData): Timestamp => {
    if (room <= 0) {
      const what = 'timestamps, including their certificates';
      return unreadableTimestamp(kind, bytes, cmsErrors('cms-too-large', { limit: MOST_IN_ALL, what }));
    }
    const [{ signature }] = signers;
    const timestamp =
      kind === 'authenticode'
        ? readCounterSignature(bytes, signature, certificates, budget)
        : readTimestampToken(bytes, signature, budget);
    // The certificates of unreadable timestamps have been read too.
    room -= 1 + Math.max(timestamp.certificates.length, Math.floor(bytes.length / KIB));
    return timestamp;
  };
  return (stamps, signedData) => stamps.slice(0, MOST_OF_ONE).map((stamp) => read(stamp, signedData));
}

/**
 * RFC 5652, section 11.4, forbids contentType, but most countersignatures have it with the type data, those from Certum
 * with TSTInfo. The G2 and G4 signers of Symantec and VeriSign signed a bare SHA-1 value, not a DigestInfo.
 */
const RULES: SignerRules = { contentTypes: [undefined, DATA, TST_INFO], bareSha1: true };

/** `certificates` are those in the enclosing signature. */
export function readCounterSignature(
  signerInfo: Uint8Array,
  signatureValue: Uint8Array,
  certificates: readonly Uint8Array[],
  budget?: WorkBudget,
): Timestamp {
  try {
    const bytes = readElement(signerInfo, 'countersignature').bytes;
    return read(bytes, parseSignerInfo(bytes, certificates), signatureValue, certificates, budget);
  } catch (thrown) {
    return { ...unreadableTimestamp('authenticode', signerInfo, thrown), certificates };
  }
}

function read(
  bytes: Uint8Array,
  signer: SignerInfo,
  signatureValue: Uint8Array,
  certificates: readonly Uint8Array[],
  budget: WorkBudget | undefined,
): Timestamp {
  const algorithm = DIGEST_NAME_BY_OID[signer.digestAlgorithm];
  const { time, findings } = readSigningTime(signer);
  return {
    kind: 'authenticode',
    bytes,
    time,
    algorithm,
    policy: undefined,
    serialNumber: undefined,
    signerCertificate: signer.certificate,
    signerName: signer.name,
    certificates,
    findings: [
      ...findings,
      // The content is the value of the enclosing signature.
      ...examineSigner({ contentType: DATA }, signer, signatureValue, { ...RULES, budget }).map(
        asCounterSignatureFinding,
      ),
      ...(signer.certificate === undefined ? [] : examinePurpose(signer.certificate, 'authenticode')),
      ...examineDigests([algorithm]),
    ],
  };
}

function asCounterSignatureFinding(finding: Finding): Finding {
  if (finding.code !== 'message-digest-differs') return asTimestampFinding(finding);
  return broken('timestamp-other-signature', 'The timestamp belongs to another signature (its messageDigest differs).');
}

function readSigningTime({ signedAttributes }: SignerInfo): {
  readonly time?: Date;
  readonly findings: readonly Finding[];
} {
  const damaged = (problem: string) => ({
    findings: [broken('timestamp-attributes-damaged', `The timestamp${problem}.`)],
  });
  const [value, ...more] = attributeValues(signedAttributes, SIGNING_TIME);
  if (value === undefined) return damaged(' has no signing time');
  if (more.length > 0) return damaged(' has several signing times');
  try {
    return { time: readTime(value, 'signing time'), findings: [] };
  } catch (thrown) {
    return damaged(`'s signing time cannot be read: ${expectedError(thrown).message}`);
  }
}
