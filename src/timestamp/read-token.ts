import { DIGEST_NAME_BY_OID } from '../asn1/algorithm-identifiers.ts';
import { SIGNING_TIME, TST_INFO } from '../asn1/object-identifiers.ts';
import { octetsOf } from '../asn1/read.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import { parseSignedData, type SignedData, type SignerInfo } from '../cms/parse-signed-data.ts';
import { digestOfContent, examineSigner, type SignedContent } from '../cms/verify-signer.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding, rejected, unsupported } from '../errors/finding.ts';
import { signingCertificateProblem } from './signing-certificate.ts';
import { asTimestampFinding, examineDigests, examinePurpose, type Timestamp } from './timestamp.ts';
import { readTstInfo, type TstInfo } from './tst-info.ts';

/** `info` is undefined if the TSTInfo is unreadable. */
export type TokenReading = Readonly<{ timestamp: Timestamp; info: TstInfo | undefined }>;

/** Reads an RFC 3161 token. `stamped` is the signature value or digest that it must cover. */
export function readTimestampToken(token: Uint8Array, stamped: SignedContent, budget?: WorkBudget): Timestamp {
  return readToken(token, stamped, budget).timestamp;
}

export function readToken(token: Uint8Array, stamped: SignedContent, budget?: WorkBudget): TokenReading {
  try {
    return readSignedToken(parseSignedData(token), stamped, budget);
  } catch (thrown) {
    return { timestamp: unreadableTimestamp('rfc3161', token, thrown), info: undefined };
  }
}

export function unreadableTimestamp(kind: Timestamp['kind'], bytes: Uint8Array, thrown: unknown): Timestamp {
  return {
    kind,
    bytes,
    time: undefined,
    algorithm: undefined,
    policy: undefined,
    serialNumber: undefined,
    signerCertificate: undefined,
    signerName: 'unknown',
    certificates: [],
    findings: [unreadable(thrown)],
  };
}

function unreadable(thrown: unknown): Finding {
  if (!(thrown instanceof CodesignError)) throw thrown;
  return rejected(thrown, 'timestamp-unreadable', `The timestamp cannot be read: ${thrown.message}.`);
}

function readSignedToken(signedData: SignedData, stamped: SignedContent, budget?: WorkBudget): TokenReading {
  const [signer, ...others] = signedData.signers;
  const content = readContent(signedData);
  const { info } = content;
  const algorithm = info && DIGEST_NAME_BY_OID[info.imprint.algorithm];
  const findings = [
    ...content.findings,
    ...(others.length === 0 ? [] : [broken('timestamp-several-signers', 'The timestamp has several signers.')]),
    ...(info === undefined ? [] : examineImprint(info, stamped)),
    ...examineSigner(signedData, signer, content.bytes, { budget }).map(asTimestampFinding),
    ...examineTokenSigner(signer),
    ...examineDigests([algorithm, DIGEST_NAME_BY_OID[signer.digestAlgorithm]]),
  ];
  const timestamp: Timestamp = {
    kind: 'rfc3161',
    bytes: signedData.bytes,
    time: info?.time,
    algorithm,
    policy: info?.policy,
    serialNumber: info && Buffer.from(info.serialNumber).toString('hex'),
    signerCertificate: signer.certificate,
    signerName: signer.name,
    certificates: signedData.certificates,
    findings,
  };
  return { timestamp, info };
}

/** The signer is examined even if the TSTInfo is damaged. */
function readContent({ contentType, content }: SignedData) {
  let bytes: Uint8Array = new Uint8Array();
  try {
    if (contentType !== TST_INFO || content === undefined) {
      const problem = content === undefined ? 'it is empty' : `it contains ${contentType} instead of TSTInfo`;
      const message = `The timestamp cannot be read: ${problem}.`;
      return { bytes, info: undefined, findings: [unsupported('timestamp-unreadable', message)] };
    }
    bytes = octetsOf(content, 'TSTInfo');
    return { bytes, info: readTstInfo(bytes), findings: [] };
  } catch (thrown) {
    return { bytes, info: undefined, findings: [unreadable(thrown)] };
  }
}

function examineImprint({ imprint }: TstInfo, stamped: SignedContent): readonly Finding[] {
  const algorithm = DIGEST_NAME_BY_OID[imprint.algorithm];
  if (algorithm === undefined) {
    const message = `The timestamp uses the digest algorithm ${imprint.algorithm}, which is not supported.`;
    return [unsupported('timestamp-algorithm-unknown', message)];
  }
  if (isSameBytes(digestOfContent(stamped, algorithm), imprint.digest)) return [];
  return [broken('timestamp-other-signature', 'The timestamp belongs to another signature (its imprint differs).')];
}

function examineTokenSigner(signer: SignerInfo): readonly Finding[] {
  const { certificate, signedAttributes } = signer;
  const times = signedAttributes.filter(({ type }) => type === SIGNING_TIME);
  const repeated =
    times.length > 1 ? [broken('timestamp-attributes-damaged', 'The timestamp has several signing times.')] : [];
  if (certificate === undefined) return repeated;
  try {
    const problem = signingCertificateProblem(signedAttributes, certificate);
    const differs =
      problem === undefined
        ? []
        : [broken('timestamp-certificate-differs', `The timestamp is not bound to its certificate: ${problem}.`)];
    return [...repeated, ...differs, ...examinePurpose(certificate, 'rfc3161')];
  } catch (thrown) {
    return [...repeated, unreadable(thrown)];
  }
}
