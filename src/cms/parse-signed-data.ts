/** SignedData of CMS (RFC 5652, section 5) and PKCS#7, in DER or BER. All parts are views of the input. */

import { algorithmOf, type Element, fieldsOf, firstParts, octetsOf, readDer, readElement } from '../asn1/read.ts';
import { encode } from '../asn1/write.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import { type CertificateFields, readCertificateFields, subjectKeyIdentifierOf } from '../certificates/certificate.ts';
import { readName } from '../certificates/names.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { cmsErrors } from './errors.ts';
import {
  partsUpTo,
  readAttributeFields,
  readContentFields,
  readSignedDataFields,
  readSignerInfoFields,
} from './signed-data-fields.ts';

export interface ParsedAttribute {
  readonly type: string;
  readonly values: readonly Element[];
}

export interface SignerInfo {
  /** Both fields are DER. undefined if a key identifier identifies the certificate. */
  readonly issuerAndSerial: { readonly issuer: Uint8Array; readonly serialNumber: Uint8Array } | undefined;
  readonly digestAlgorithm: string;
  readonly signatureAlgorithm: string;
  readonly signatureAlgorithmIdentifier: Uint8Array;
  /** The signed attributes with the tag 0x31, as they were signed. undefined if the content itself was signed. */
  readonly signedBytes: Uint8Array | undefined;
  readonly signedAttributes: readonly ParsedAttribute[];
  readonly signature: Uint8Array;
  readonly unsignedAttributes: readonly ParsedAttribute[];
  readonly certificate: Uint8Array | undefined;
  /** Common name of the signer, or issuer and serial number if the certificate is missing. Not escaped. */
  readonly name: string;
}

export interface SignedData {
  readonly bytes: Uint8Array;
  /** Number of bytes after the ContentInfo, which can be padding or hidden data. */
  readonly trailingLength: number;
  readonly contentType: string;
  /** The element under `[0]`: an OCTET STRING in CMS, any type in PKCS#7; undefined if detached. */
  readonly content: Element | undefined;
  readonly certificates: readonly Uint8Array[];
  readonly signers: readonly [SignerInfo, ...SignerInfo[]];
}

/** A chain has about four certificates, and the chain of a timestamp about four more. */
const MAX_CERTIFICATES = 200;
/** Signatures have about six attributes with one value each. */
const MAX_ATTRIBUTES = 1000;
const MAX_VALUES = 1000;

/** A signature has about ten attributes and values, so 64 nested signatures have 640. */
const MAX_ATTRIBUTES_AND_VALUES = 4000;
/** A signature has about four certificates of less than 2 KiB, not counting those of timestamps. */
const MAX_USUAL_CERTIFICATES = 300;
const USUAL_LENGTH = 2048;

export type CmsBudget = ReturnType<typeof cmsBudget>;

export function cmsBudget() {
  return {
    takeAttributes: limited(MAX_ATTRIBUTES_AND_VALUES, 'attributes and values in total'),
    takeCertificates: limited(MAX_USUAL_CERTIFICATES, 'certificates in total'),
  };
}

function limited(limit: number, what: string): (count: number) => void {
  let left = limit;
  return (count) => {
    left -= count;
    if (left < 0) throw cmsErrors('cms-too-large', { limit, what });
  };
}

export function parseSignedData(bytes: Uint8Array, budget: CmsBudget = cmsBudget()): SignedData {
  return withCmsErrors(() => {
    const { contentInfo, encapsulatedContent, certificates: set, signers } = readSignedDataFields(bytes);
    const certificates = certificatesIn(set);
    for (const { length } of certificates) budget.takeCertificates(Math.ceil(length / USUAL_LENGTH));
    const candidates = certificates.map((der) => ({ der, fields: readCertificateFields(der) }));
    const [first, ...others] = signers;
    return {
      bytes: contentInfo.bytes,
      trailingLength: bytes.length - contentInfo.bytes.length,
      ...readContentFields(encapsulatedContent),
      certificates,
      signers: [
        parseSigner(first, candidates, budget),
        ...others.map((other) => parseSigner(other, candidates, budget)),
      ],
    };
  });
}

export function parseSignerInfo(bytes: Uint8Array, certificates: readonly Uint8Array[]): SignerInfo {
  return withCmsErrors(() => {
    const candidates = certificates.map((der) => ({ der, fields: readCertificateFields(der) }));
    return parseSigner(readElement(bytes, 'SignerInfo'), candidates, cmsBudget());
  });
}

export function withCmsErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code !== 'asn1-malformed') throw thrown;
    throw cmsErrors('cms-malformed', { problem: thrown.message }, { cause: thrown });
  }
}

export function attributeValues(attributes: readonly ParsedAttribute[], type: string): readonly Element[] {
  return attributes.flatMap((attribute) => (attribute.type === type ? attribute.values : []));
}

function certificatesIn(set: Element | undefined): Uint8Array[] {
  if (set === undefined) return [];
  return partsUpTo(MAX_CERTIFICATES, set, 'certificates').flatMap(({ tag, bytes }) => (tag === 0x30 ? [bytes] : []));
}

/** Real values have up to 2,000 bytes, or 50,000 with post-quantum algorithms. */
const LONGEST_SIGNATURE = 64 * 1024;
/** Signed attributes are copied in memory. They usually need less than 1,000 bytes. */
const LONGEST_SIGNED_ATTRIBUTES = 1024 * 1024;
const LONGEST_IDENTIFIER = 64 * 1024;

/** A certificate that may belong to a signer. It is parsed once for all signers. */
interface Candidate {
  readonly der: Uint8Array;
  readonly fields: CertificateFields;
}

function parseSigner(element: Element, candidates: readonly Candidate[], { takeAttributes }: CmsBudget): SignerInfo {
  const attributesOf = (set: Element, what: string) => attributesIn(set, what, takeAttributes);
  const fields = readSignerInfoFields(element);
  const { identifier, signedAttributes, unsignedAttributes } = fields;
  const issuerAndSerial = issuerAndSerialOf(identifier);
  const signedBytes =
    signedAttributes &&
    encode(0x31, upTo(LONGEST_SIGNED_ATTRIBUTES, signedAttributes.contents, 'bytes of signed attributes'));
  const what = 'signed attributes';
  const certificate = candidates.find((candidate) => isNamedBy(candidate.fields, identifier, issuerAndSerial));
  return {
    issuerAndSerial,
    digestAlgorithm: algorithmOf(fields.digestAlgorithm, 'algorithm'),
    signatureAlgorithm: algorithmOf(fields.signatureAlgorithm, 'algorithm'),
    signatureAlgorithmIdentifier: fields.signatureAlgorithm.bytes,
    signedBytes,
    // Attributes are signed in DER form (RFC 5652, section 5.4).
    signedAttributes: signedBytes === undefined ? [] : attributesOf(readDer(signedBytes, what), what),
    signature: upTo(
      LONGEST_SIGNATURE,
      octetsOf(fields.signature, 'SignerInfo, signature'),
      'bytes in the signature value',
    ),
    unsignedAttributes: unsignedAttributes === undefined ? [] : attributesOf(unsignedAttributes, 'unsigned attributes'),
    certificate: certificate?.der,
    name: nameOf(certificate?.fields, issuerAndSerial),
  };
}

function upTo(limit: number, bytes: Uint8Array, what: string): Uint8Array {
  if (bytes.length <= limit) return bytes;
  throw cmsErrors('cms-too-large', { limit, what });
}

function issuerAndSerialOf(identifier: Element): SignerInfo['issuerAndSerial'] {
  if (identifier.tag === 0x80) return undefined; // subjectKeyIdentifier
  upTo(LONGEST_IDENTIFIER, identifier.bytes, "bytes in the signer's identifier");
  const fields = fieldsOf(identifier, 0x30, 'signer identifier');
  return { issuer: fields.next(0x30, 'issuer').bytes, serialNumber: fields.next(0x02, 'serial number').bytes };
}

function attributesIn(set: Element, what: string, take: CmsBudget['takeAttributes']): ParsedAttribute[] {
  let room = MAX_VALUES;
  const attributes = partsUpTo(MAX_ATTRIBUTES, set, what);
  take(attributes.length);
  return attributes.map((attribute) => {
    const { type, values: valueSet } = readAttributeFields(attribute);
    const values = firstParts(valueSet, what, room + 1);
    room -= values.length;
    if (room < 0) throw cmsErrors('cms-too-large', { limit: MAX_VALUES, what: `values of ${what}` });
    take(values.length);
    return { type, values };
  });
}

function isNamedBy(fields: CertificateFields, identifier: Element, wanted: SignerInfo['issuerAndSerial']): boolean {
  if (wanted === undefined) {
    const keyIdentifier = subjectKeyIdentifierOf(fields);
    return keyIdentifier !== undefined && isSameBytes(keyIdentifier, identifier.contents);
  }
  const { issuer, serialNumber } = wanted;
  return isSameBytes(fields.serialNumber, serialNumber) && isSameBytes(fields.issuer, issuer);
}

function nameOf(certificate: CertificateFields | undefined, issuerAndSerial: SignerInfo['issuerAndSerial']): string {
  if (certificate !== undefined) {
    const { commonName, text } = readName(certificate.subject);
    return commonName ?? text;
  }
  if (issuerAndSerial === undefined) return 'unknown';
  const serial = Buffer.from(readElement(issuerAndSerial.serialNumber, 'serial number').contents).toString('hex');
  return `${readName(issuerAndSerial.issuer).text}, serial number ${serial}`;
}
