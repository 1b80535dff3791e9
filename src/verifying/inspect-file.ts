/** What a file's signatures hold, all of it: for people who want to see, and for programs. Says nothing of trust. */

import { type NamedObject, namedObject } from '../asn1/object-names.ts';
import { readElement } from '../asn1/read.ts';
import { readName } from '../certificates/names.ts';
import type { SignedData, SignerInfo } from '../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { type Finding, speaksAgainst } from '../errors/finding.ts';
import { type Detail, type EmbeddedSignature, flatten } from '../formats/format.ts';
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
  /** The format's short word: `pe`, `jar`. */
  readonly format: string;
  /** In words. */
  readonly title: string;
  /** In bytes. */
  readonly size: number;
  /** Where signatures are in the file and in what. */
  readonly layout: readonly Detail[];
  /** About the file as a whole. */
  readonly findings: readonly Finding[];
  /** The outer ones, each with those nested in it; empty when the file is unsigned. */
  readonly signatures: readonly InspectedSignature[];
}

export interface InspectedSignature {
  /** From 1, nested ones counted where they stand: what `extract --index` takes. */
  readonly number: number;
  readonly place: string;
  /** Raw, as all text from the file: may hold control characters. */
  readonly signer: string;
  /** Whether content, signed attributes and signature value agree. Not trust. */
  readonly intact: boolean;
  /** What the content is digested with; undefined if the API does not have it, or it cannot be read. */
  readonly algorithm: DigestAlgorithm | undefined;
  /** What the format knows of it. */
  readonly details: readonly Detail[];
  /** Of the CMS, in bytes. */
  readonly length: number;
  /** Undefined, and `signers` and `certificates` empty, when the CMS cannot be read. */
  readonly contentType: NamedObject | undefined;
  readonly signers: readonly InspectedSigner[];
  /** All that it carries: the signer's, its issuer, and so on. */
  readonly certificates: readonly InspectedCertificate[];
  readonly timestamps: readonly InspectedTimestamp[];
  readonly findings: readonly Finding[];
  readonly nested: readonly InspectedSignature[];
}

export interface InspectedSigner {
  readonly name: string;
  /** As the SignerInfo names the certificate; undefined when it names its key. */
  readonly issuer: string | undefined;
  /** In hexadecimal. */
  readonly serialNumber: string | undefined;
  /** SHA-256 of the certificate; undefined when it is not carried. */
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
  /** Whether it belongs to the signature and is itself unharmed. Not trust. */
  readonly intact: boolean;
  readonly policy: NamedObject | undefined;
  /** Of the token or the SignerInfo, in bytes. */
  readonly length: number;
  /** SHA-256 of the authority's certificate. */
  readonly certificate: string | undefined;
  /** Those that it carries itself: none in the older kind, whose are among those of the signature. */
  readonly certificates: readonly InspectedCertificate[];
}

/**
 * Throws what the file system says against the file, `unsupported-format`, and what the format finds so malformed that
 * nothing in it can be shown.
 */
export async function inspectFile(path: string, reading: Reading): Promise<InspectedFile> {
  await using file = await readFile(path, reading);
  const { format, signable, source } = file;
  const signatures = await signable.signatures();
  const numbers = new Map(flatten(signatures).map((signature, index) => [signature, index + 1]));
  const isIssuer = issuerChecks();
  const inspect = async (signature: EmbeddedSignature): Promise<InspectedSignature> => {
    const nested: InspectedSignature[] = [];
    const own = await inspectSignature(signature, numbers.get(signature) ?? 0, isIssuer);
    for (const inner of signature.nested) nested.push(await inspect(inner));
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
  signature: EmbeddedSignature,
  number: number,
  isIssuer: CheckIssuer,
): Promise<Omit<InspectedSignature, 'nested'>> {
  const { location, envelope, signedData, signerName, algorithm, timestamps } = signature;
  const findings = await signature.examine();
  return {
    number,
    place: location,
    signer: signerName,
    intact: !speaksAgainst(findings, 'integrity'),
    algorithm,
    details: await signature.details(),
    length: envelope.bytes.length,
    ...inspectSignedData(signedData, isIssuer),
    timestamps: timestamps.map((timestamp) => inspectTimestamp(timestamp, isIssuer)),
    findings,
  };
}

function inspectSignedData(
  signedData: SignedData | undefined,
  isIssuer: CheckIssuer,
): Pick<InspectedSignature, 'contentType' | 'signers' | 'certificates'> {
  if (signedData === undefined) return { contentType: undefined, signers: [], certificates: [] };
  const { contentType, signers, certificates } = signedData;
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
    intact: !speaksAgainst(findings, 'integrity'),
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
