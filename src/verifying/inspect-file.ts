import { type NamedObject, namedObject } from '../asn1/object-names.ts';
import { readElement } from '../asn1/read.ts';
import { readName } from '../certificates/names.ts';
import { parseSignedData, type SignerInfo } from '../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { type Finding, hasFindingAgainst } from '../errors/finding.ts';
import { containedAs, type Detail, type Envelope, type FoundSignature, withNested } from '../format/signature.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import { hexOf, type InspectedAttribute, inspectAttributes } from './inspect-attributes.ts';
import {
  type CheckIssuer,
  type InspectedCertificate,
  inspectCertificates,
  issuerChecks,
} from './inspect-certificates.ts';
import { type Reading, readFile } from './verify-file.ts';

export interface InspectedFile {
  readonly path: string;
  readonly format: string;
  readonly title: string;
  readonly size: number;
  readonly layout: readonly Detail[];
  readonly findings: readonly Finding[];
  readonly signatures: readonly InspectedSignature[];
}

export interface InspectedSignature {
  /** Number of the signature, as in `extract --index`. The numbers start at 1 and include nested signatures. */
  readonly number: number;
  readonly place: string;
  /** The text is not escaped, so it may contain control characters. */
  readonly signer: string;
  /** The content, the signed attributes and the signature value match. Trust is not checked. */
  readonly intact: boolean;
  /** Digest algorithm of the content. undefined if it is unreadable, or if the API does not support it. */
  readonly algorithm: DigestAlgorithm | undefined;
  readonly details: readonly Detail[];
  readonly kind: Envelope['kind'];
  readonly length: number;
  /** undefined if the CMS signature is unreadable; `signers` and `certificates` are then empty. */
  readonly contentType: NamedObject | undefined;
  readonly signers: readonly InspectedSigner[];
  readonly certificates: readonly InspectedCertificate[];
  readonly timestamps: readonly InspectedTimestamp[];
  readonly findings: readonly Finding[];
  readonly nested: readonly InspectedSignature[];
}

export interface InspectedSigner {
  readonly name: string;
  readonly issuer: string | undefined;
  readonly serialNumber: string | undefined;
  /** SHA-256 of the certificate, if the signature contains it. */
  readonly certificate: string | undefined;
  readonly digestAlgorithm: NamedObject;
  readonly signatureAlgorithm: NamedObject;
  readonly signature: Uint8Array;
  readonly signedAttributes: readonly InspectedAttribute[];
  readonly unsignedAttributes: readonly InspectedAttribute[];
}

export interface InspectedTimestamp
  extends Pick<Timestamp, 'kind' | 'time' | 'algorithm' | 'serialNumber' | 'findings'> {
  readonly signer: string;
  /** The timestamp is intact and belongs to this signature. Trust is not checked. */
  readonly intact: boolean;
  readonly policy: NamedObject | undefined;
  readonly length: number;
  readonly certificate: string | undefined;
  /** Empty for the older form of timestamp, which uses the certificates of the signature. */
  readonly certificates: readonly InspectedCertificate[];
}

/** Throws file system errors, `unsupported-format`, and the format's own error if the file is unreadable. */
export async function inspectFile(path: string, reading: Reading): Promise<InspectedFile> {
  await using file = await readFile(path, reading);
  const { format, signable, source } = file;
  const signatures = await signable.signatures();
  const numbers = new Map(withNested(signatures).map((signature, index) => [signature, index + 1]));
  const isIssuer = issuerChecks();
  const inspect = async (signature: FoundSignature): Promise<InspectedSignature> => {
    const nested: InspectedSignature[] = [];
    const own = await inspectSignature(signature, numbers.get(signature) ?? 0, isIssuer);
    for (const inner of containedAs('nested', signature)) nested.push(await inspect(inner));
    return { ...own, nested };
  };
  const inspected: InspectedSignature[] = [];
  for (const signature of signatures) inspected.push(await inspect(signature));
  return {
    path,
    format: format.id,
    title: format.title,
    size: source.size,
    layout: signable.layout(),
    findings: await signable.examine(),
    signatures: inspected,
  };
}

async function inspectSignature(
  signature: FoundSignature,
  number: number,
  isIssuer: CheckIssuer,
): Promise<Omit<InspectedSignature, 'nested'>> {
  const { location, envelope, signer, algorithm, timestamps } = signature;
  const findings = await signature.examine();
  return {
    number,
    place: location,
    signer: signer.name,
    intact: !hasFindingAgainst(findings, 'integrity'),
    algorithm,
    details: await signature.details(),
    kind: envelope.kind,
    length: envelope.bytes.length,
    ...inspectCms(signature, isIssuer),
    timestamps: timestamps.map((timestamp) => inspectTimestamp(timestamp, isIssuer)),
    findings,
  };
}

function inspectCms(
  { envelope: { kind, bytes }, value }: FoundSignature,
  isIssuer: CheckIssuer,
): Pick<InspectedSignature, 'contentType' | 'signers' | 'certificates'> {
  if (kind !== 'cms' || value === undefined) return { contentType: undefined, signers: [], certificates: [] };
  const { contentType, signers, certificates } = parseSignedData(bytes);
  return {
    contentType: namedObject(contentType),
    signers: signers.map(inspectSigner),
    certificates: inspectCertificates(
      certificates,
      signers.map(({ certificate }) => certificate),
      isIssuer,
    ),
  };
}

function inspectSigner(signer: SignerInfo): InspectedSigner {
  const { issuerAndSerial, certificate } = signer;
  return {
    name: signer.name,
    issuer:
      issuerAndSerial && (orUndefined(() => readName(issuerAndSerial.issuer).text) ?? hexOf(issuerAndSerial.issuer)),
    serialNumber: issuerAndSerial && hexOf(readElement(issuerAndSerial.serialNumber, 'serial number').contents),
    certificate: certificate && fingerprintOf(certificate),
    digestAlgorithm: namedObject(signer.digestAlgorithm),
    signatureAlgorithm: namedObject(signer.signatureAlgorithm),
    signature: signer.signature,
    signedAttributes: inspectAttributes(signer.signedAttributes),
    unsignedAttributes: inspectAttributes(signer.unsignedAttributes),
  };
}

function inspectTimestamp(timestamp: Timestamp, isIssuer: CheckIssuer): InspectedTimestamp {
  const { kind, time, algorithm, policy, serialNumber, signerCertificate, findings, bytes } = timestamp;
  return {
    kind,
    time,
    signer: timestamp.signerName,
    intact: !hasFindingAgainst(findings, 'integrity'),
    algorithm,
    policy: policy === undefined ? undefined : namedObject(policy),
    serialNumber,
    length: bytes.length,
    certificate: signerCertificate && fingerprintOf(signerCertificate),
    certificates:
      kind === 'authenticode' ? [] : inspectCertificates(timestamp.certificates, [signerCertificate], isIssuer),
    findings,
  };
}
