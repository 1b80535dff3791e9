import { DIGEST_NAME_BY_OID, DIGEST_OID } from '../asn1/algorithm-identifiers.ts';
import { SPC_CAB_DATA, SPC_NESTED_SIGNATURE, SPC_PE_IMAGE_DATA, SPC_SIP_INFO } from '../asn1/object-identifiers.ts';
import { parts as partsOf, readElement } from '../asn1/read.ts';
import type { ParsedAttribute } from '../cms/parse-signed-data.ts';
import { examineSigner } from '../cms/verify-signer.ts';
import type { ContentDigest } from '../crypto/measure-content.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { broken, type Finding, note, rejected, unsupported, warning } from '../errors/finding.ts';
import { examineUnread } from '../format/cms.ts';
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
  if (parts === undefined) {
    return [
      rejected(error, 'signature-unreadable', `The signature cannot be read: ${error?.message ?? 'it is damaged'}.`),
    ];
  }
  const { signedData, digestedContent } = parts;
  const [signer, ...others] = signedData.signers;
  return [
    ...examineContent(parts, file),
    ...examineAlgorithms(parts),
    ...examineSigner(signedData, signer, digestedContent, { budget }),
    ...(others.length === 0 ? [] : [unsupported('several-signers', `The signature has ${others.length + 1} signers.`)]),
    ...examineSignedAttributes(signer.signedBytes, signer.signedAttributes),
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

/** The value must match the data type. */
export function examineDataType({ dataType, dataValue }: AuthenticodeParts, kind: SignedKind): readonly Finding[] {
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

/** Windows requires that both values are equal. */
function examineAlgorithms({ contentDigestOid, signedData }: AuthenticodeParts): readonly Finding[] {
  const { digestAlgorithm } = signedData.signers[0];
  const names = [contentDigestOid, digestAlgorithm].map((oid) => DIGEST_NAME_BY_OID[oid]);
  const findings: Finding[] = [];
  if (contentDigestOid !== digestAlgorithm) {
    const problem = `The file digest uses ${names[0] ?? contentDigestOid}, but the signature uses ${names[1] ?? digestAlgorithm}.`;
    findings.push(broken('digest-algorithms-differ', problem));
  }
  if (names.includes('md5')) {
    findings.push(
      broken(
        'digest-algorithm-weak',
        'The signature uses MD5, which proves nothing: different files can have the same digest.',
      ),
    );
  }
  if ([contentDigestOid, digestAlgorithm].includes(DIGEST_OID.SHA1)) {
    const message = 'The signature uses SHA-1, which is no longer secure. Sign with SHA256.';
    findings.push(warning('digest-algorithm-aging', message));
  }
  return findings;
}

/** DER sorts attributes, and each type must occur only once. Signing programs sign the bytes as stored. */
function examineSignedAttributes(
  signedBytes: Uint8Array | undefined,
  attributes: readonly ParsedAttribute[],
): readonly Finding[] {
  if (signedBytes === undefined) return [];
  const findings: Finding[] = [];
  const encodings = partsOf(readElement(signedBytes, 'signed attributes'), 'signed attributes').map(
    ({ bytes }) => bytes,
  );
  if (!isInDerOrder(encodings)) {
    findings.push(note('signed-attributes-unordered', 'The signed attributes are not in DER order.'));
  }
  const repeated = repeatedTypes(attributes);
  if (repeated.length > 0) {
    findings.push(
      broken('signed-attributes-repeated', `These signed attributes occur several times: ${repeated.join(', ')}.`),
    );
  }
  return findings;
}

/** No signature protects them, and programs read different values of repeated attributes. */
function examineUnsignedAttributes(attributes: readonly ParsedAttribute[]): readonly Finding[] {
  const repeated = repeatedTypes(attributes).filter((type) => type !== SPC_NESTED_SIGNATURE);
  if (repeated.length === 0) return [];
  return [
    note('unsigned-attributes-repeated', `These unsigned attributes occur several times: ${repeated.join(', ')}.`),
  ];
}

export function isInDerOrder(encodings: readonly Uint8Array[]): boolean {
  return encodings.every((bytes, index) => Buffer.compare(encodings[index - 1] ?? bytes, bytes) <= 0);
}

function repeatedTypes(attributes: readonly ParsedAttribute[]): readonly string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { type } of attributes) {
    if (seen.has(type)) repeated.add(type);
    seen.add(type);
  }
  return [...repeated];
}
