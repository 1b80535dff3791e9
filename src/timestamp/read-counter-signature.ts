/** PKCS#9 countersignatures (RFC 5652, 11.4), the older form of timestamps in Authenticode. */

import { DIGEST_NAME_BY_OID } from '../asn1/algorithm-identifiers.ts';
import { DATA, SIGNING_TIME, TST_INFO } from '../asn1/object-identifiers.ts';
import { readElement } from '../asn1/read.ts';
import { readTime } from '../asn1/times.ts';
import { attributeValues, parseSignerInfo, type SignerInfo } from '../cms/parse-signed-data.ts';
import { examineSigner, type SignerRules } from '../cms/verify-signer.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import { unreadableTimestamp } from './read-token.ts';
import { asTimestampFinding, examineDigests, examinePurpose, type Timestamp } from './timestamp.ts';

/**
 * RFC 5652, 11.4 forbids contentType, but most have data, or TSTInfo in those from Certum. The G2 and G4 signers of
 * Symantec and VeriSign signed a bare SHA-1 value, not a DigestInfo.
 */
const RULES: SignerRules = { contentTypes: [undefined, DATA, TST_INFO], bareSha1: true };

/** `certificates` are those of the enclosing signature. Reports errors as findings. */
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
  return broken('timestamp-other-signature', 'The timestamp is of another signature (its messageDigest differs).');
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
