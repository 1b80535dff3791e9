import { DIGEST_NAME_BY_OID, DIGEST_OID } from '../asn1/algorithm-identifiers.ts';
import { SPC_CAB_DATA, SPC_NESTED_SIGNATURE, SPC_PE_IMAGE_DATA, SPC_SIP_INFO } from '../asn1/object-identifiers.ts';
import { parts as partsOf, readElement } from '../asn1/read.ts';
import type { ParsedAttribute, SignerInfo } from '../cms/parse-signed-data.ts';
import { examineSigner } from '../cms/verify-signer.ts';
import type { ContentDigest } from '../crypto/measure-content.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { broken, type Finding, note, rejected, unsupported } from '../errors/finding.ts';
import { examineRepeated, examineSignerCount, examineUnread, MD5_WEAK, SHA1_AGING } from '../format/cms.ts';
import type { SignedKind } from './container.ts';
import { AUTHENTICODE_PROFILE } from './profile.ts';
import type { AuthenticodeParts, FoundCms } from './read-authenticode.ts';

export interface SignedFile extends SignedKind {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
}

export function examineAuthenticode(
  { parts, error }: FoundCms,
  file: SignedFile,
  budget?: WorkBudget,
): readonly Finding[] {
  if (parts === undefined)
    return [rejected(error, 'signature-unreadable', `The signature cannot be read: ${error?.message}.`)];
  const { signedData, digestedContent } = parts;
  const [signer] = signedData.signers;
  return [
    ...examineContent(parts, file),
    ...examineAlgorithms(parts),
    ...examineSigner(signedData, signer, digestedContent, { budget }),
    ...examineSignerCount(signedData),
    ...examineOrder(signer),
    ...examineRepeated(signer),
    ...examineUnsignedAttributes(signer.unsignedAttributes),
    ...examineUnread(AUTHENTICODE_PROFILE, signer.unsignedAttributes),
  ];
}

export function contentMatches(
  parts: AuthenticodeParts,
  { digests }: Pick<SignedFile, 'digests'>,
): boolean | undefined {
  const { contentDigestAlgorithm: algorithm, contentDigest } = parts;
  const actual = algorithm === undefined ? undefined : digests.get(algorithm);
  return actual === undefined ? undefined : Buffer.compare(actual, contentDigest) === 0;
}

function examineContent(parts: AuthenticodeParts, file: SignedFile): readonly Finding[] {
  const { contentDigestOid } = parts;
  const findings = [...examineDataType(parts, file)];
  const matches = contentMatches(parts, file);
  if (matches === undefined) {
    const problem = `The signature uses the digest algorithm ${contentDigestOid}, which is not supported.`;
    findings.push(unsupported('digest-algorithm-unknown', problem));
  } else if (!matches) {
    const problem =
      "The file's digest differs from the signed one: the file was changed, or the signature belongs to another file.";
    findings.push(broken('content-digest-differs', problem));
  }
  return findings;
}

const FILE_KINDS: ReadonlyMap<string, string> = new Map([
  [SPC_PE_IMAGE_DATA, 'a program (PE)'],
  [SPC_CAB_DATA, 'a cabinet file'],
  [SPC_SIP_INFO, 'a file that a Windows plug-in signs (MSI, script, package)'],
]);

function examineDataType({ dataType, dataValue }: AuthenticodeParts, kind: SignedKind): readonly Finding[] {
  const types = [kind.dataType, ...(kind.otherTypes ?? [])];
  if (!types.includes(dataType) && dataType !== kind.toleratedType) {
    const made = FILE_KINDS.get(dataType) ?? `an unknown type of file (${dataType})`;
    return [broken('signed-kind-differs', `The signature was made for ${made}.`)];
  }
  const tolerated = types.includes(dataType)
    ? []
    : [note('signed-kind-other', `The signature names the file type ${dataType} instead of ${kind.dataType}.`)];
  return [...tolerated, ...(kind.value?.examine(dataValue) ?? [])];
}

/** Windows requires the same algorithm for the file digest and for the signature. */
function examineAlgorithms({ contentDigestOid, signedData }: AuthenticodeParts): readonly Finding[] {
  const { digestAlgorithm } = signedData.signers[0];
  const names = [contentDigestOid, digestAlgorithm].map((oid) => DIGEST_NAME_BY_OID[oid]);
  const findings: Finding[] = [];
  if (contentDigestOid !== digestAlgorithm) {
    const problem = `The file digest uses ${names[0] ?? contentDigestOid}, but the signature uses ${names[1] ?? digestAlgorithm}.`;
    findings.push(broken('digest-algorithms-differ', problem));
  }
  if (names.includes('md5')) findings.push(MD5_WEAK);
  if ([contentDigestOid, digestAlgorithm].includes(DIGEST_OID.SHA1)) findings.push(SHA1_AGING);
  return findings;
}

/** DER sorts attributes, but other programs sign attributes in any order. */
function examineOrder({ signedBytes }: SignerInfo): readonly Finding[] {
  if (signedBytes === undefined) return [];
  const what = 'signed attributes';
  const encodings = partsOf(readElement(signedBytes, what), what).map(({ bytes }) => bytes);
  if (isInDerOrder(encodings)) return [];
  return [note('signed-attributes-unordered', 'The signed attributes are not in DER order.')];
}

/** If an attribute occurs several times, programs disagree on the value to read. */
function examineUnsignedAttributes(attributes: readonly ParsedAttribute[]): readonly Finding[] {
  const types = attributes.map(({ type }) => type).filter((type) => type !== SPC_NESTED_SIGNATURE);
  const repeated = new Set(types.filter((type, index) => types.indexOf(type) !== index));
  if (repeated.size === 0) return [];
  const message = `These unsigned attributes occur several times: ${[...repeated].join(', ')}.`;
  return [note('unsigned-attributes-repeated', message)];
}

export function isInDerOrder(encodings: readonly Uint8Array[]): boolean {
  return encodings.every((bytes, index) => Buffer.compare(encodings[index - 1] ?? bytes, bytes) <= 0);
}
