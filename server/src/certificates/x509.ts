/** Encodes and reads X.509 certificates (RFC 5280, section 4) and certificate requests (PKCS#10, RFC 2986). */

import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { Set as Asn1Set, type BaseBlock, BitString, Integer, Null, OctetString, Sequence, Utf8String } from 'asn1js';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CertificationRequest,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
  id_AuthorityKeyIdentifier,
  id_BasicConstraints,
  id_ExtKeyUsage,
  id_KeyUsage,
  id_SubjectAltName,
  id_SubjectKeyIdentifier,
  PublicKeyInfo,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from 'pkijs';

export type Purpose = 'code-signing' | 'tls-server';
export type SignatureScheme = 'rsa-sha256' | 'ecdsa-sha256';

export interface DistinguishedName {
  readonly commonName: string;
  readonly organization?: string;
}

export interface Issuer {
  readonly name: RelativeDistinguishedNames;
  readonly publicKey: KeyObject;
  readonly scheme: SignatureScheme;
  /** RSA signatures are raw, and ECDSA signatures are in DER. */
  sign(toBeSigned: Uint8Array): Promise<Uint8Array>;
}

export interface CertificateRequest {
  readonly subject: RelativeDistinguishedNames;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The serial number must be positive as a signed integer, and at most 20 bytes long (RFC 5280, section 4.1.2.2). */
  readonly serialNumber: Uint8Array;
  readonly use: 'authority' | Purpose;
  readonly alternativeNames?: readonly string[];
}

export const PURPOSE: Readonly<Record<Purpose, string>> = {
  'code-signing': '1.3.6.1.5.5.7.3.3',
  'tls-server': '1.3.6.1.5.5.7.3.1',
};
/** Values of the keyUsage extension (RFC 5280, section 4.2.1.3) */
const KEY_USAGE = {
  digitalSignature: { valueHex: Uint8Array.of(0x80), unusedBits: 7 },
  keyCertSignAndCrlSign: { valueHex: Uint8Array.of(0x06), unusedBits: 1 },
} as const;

export async function issueCertificate(issuer: Issuer, request: CertificateRequest): Promise<Buffer> {
  const certificate = new Certificate({
    version: 2, // version 3
    serialNumber: new Integer({ valueHex: request.serialNumber }),
    signature: signatureAlgorithm(issuer.scheme),
    issuer: issuer.name,
    notBefore: time(request.notBefore),
    notAfter: time(request.notAfter),
    subject: request.subject,
    subjectPublicKeyInfo: publicKeyInfo(request.publicKey),
    extensions: extensions(issuer, request),
  });
  return await signed(certificate, issuer);
}

/** Requests a certificate for `key`. The CA decides what the certificate may be used for. @returns DER */
export async function signingRequest(key: Issuer): Promise<Buffer> {
  const request = new CertificationRequest({
    subject: key.name,
    subjectPublicKeyInfo: publicKeyInfo(key.publicKey),
    attributes: [],
  });
  return await signed(request, key);
}

/** Encodes PEM text (RFC 7468) with a final newline. */
export function toPem(der: Uint8Array, label: 'CERTIFICATE' | 'CERTIFICATE REQUEST' = 'CERTIFICATE'): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

export function encode(block: BaseBlock): Buffer {
  return Buffer.from(block.toBER());
}

/** pkijs would write trailing zeros in the fraction of a second, which DER forbids. */
function wholeSeconds(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

/** Years up to 2049 are encoded as UTCTime, and later years as GeneralizedTime (RFC 5280, section 4.1.2.5). */
function time(date: Date): Time {
  const type = date.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime;
  return new Time({ type, value: wholeSeconds(date) });
}

async function signed(structure: Certificate | CertificationRequest, { scheme, sign }: Issuer): Promise<Buffer> {
  structure.signatureAlgorithm = signatureAlgorithm(scheme);
  const [toBeSigned] = structure.toSchema(true).valueBlock.value as [BaseBlock];
  structure.signatureValue = new BitString({ valueHex: await sign(encode(toBeSigned)) });
  return encode(structure.toSchema(true));
}

function extensions(issuer: Issuer, request: CertificateRequest): Extension[] {
  const { use } = request;
  const authority = use === 'authority';
  const usage = authority ? KEY_USAGE.keyCertSignAndCrlSign : KEY_USAGE.digitalSignature;
  // pathLen is 0, because these authorities issue only end-entity certificates.
  const constraints = new BasicConstraints(authority ? { cA: true, pathLenConstraint: 0 } : {});
  const subjectKey = new OctetString({ valueHex: keyIdentifier(request.publicKey) });
  const issuerKey = new OctetString({ valueHex: keyIdentifier(issuer.publicKey) });
  const list = [
    extension(id_BasicConstraints, true, constraints.toSchema()),
    extension(id_KeyUsage, true, new BitString(usage)),
    extension(id_SubjectKeyIdentifier, false, subjectKey),
    extension(id_AuthorityKeyIdentifier, false, new AuthorityKeyIdentifier({ keyIdentifier: issuerKey }).toSchema()),
  ];
  if (use !== 'authority') {
    list.push(extension(id_ExtKeyUsage, false, new ExtKeyUsage({ keyPurposes: [PURPOSE[use]] }).toSchema()));
  }
  const names = (request.alternativeNames ?? []).map(generalName);
  if (names.length > 0) list.push(extension(id_SubjectAltName, false, new GeneralNames({ names }).toSchema()));
  return list;
}

function extension(extnID: string, critical: boolean, value: BaseBlock): Extension {
  return new Extension({ extnID, critical, extnValue: value.toBER() });
}

/** Type 7 is an iPAddress in network byte order, and type 2 is a dNSName (RFC 5280, section 4.2.1.6). */
function generalName(text: string): GeneralName {
  const valueHex = ipAddressBytes(text);
  return valueHex === undefined
    ? new GeneralName({ type: 2, value: text })
    : new GeneralName({ type: 7, value: new OctetString({ valueHex }) });
}

/** The key identifier is the SHA-1 digest of the subjectPublicKey bits (RFC 5280, section 4.2.1.2, method 1). */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const { subjectPublicKey } = publicKeyInfo(publicKey);
  return createHash('sha1').update(subjectPublicKey.valueBlock.valueHexView).digest();
}

function publicKeyInfo(publicKey: KeyObject): PublicKeyInfo {
  return PublicKeyInfo.fromBER(publicKey.export({ format: 'der', type: 'spki' }));
}

function signatureAlgorithm(scheme: SignatureScheme): AlgorithmIdentifier {
  return scheme === 'rsa-sha256'
    ? new AlgorithmIdentifier({ algorithmId: '1.2.840.113549.1.1.11', algorithmParams: new Null() }) // RFC 4055
    : new AlgorithmIdentifier({ algorithmId: '1.2.840.10045.4.3.2' }); // RFC 5758
}

/** pkijs would put several attributes into one multi-valued RDN. */
export function encodedName({ commonName, organization }: DistinguishedName): RelativeDistinguishedNames {
  const part = (type: string, value: string) =>
    new Asn1Set({ value: [new AttributeTypeAndValue({ type, value: new Utf8String({ value }) }).toSchema()] });
  const parts = [...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName)];
  return RelativeDistinguishedNames.fromBER(new Sequence({ value: parts }).toBER());
}

/** @param certificate PEM */
export function subjectOf(certificate: string): RelativeDistinguishedNames {
  return Certificate.fromBER(new X509Certificate(certificate).raw).subject;
}

/** Returns the certificates of a PEM file in the order of the file. */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Returns 4 or 16 bytes in network byte order, or undefined if the text is not an IP address. */
function ipAddressBytes(text: string): Uint8Array | undefined {
  const version = isIP(text);
  if (version === 4) return Uint8Array.from(text.split('.'), Number);
  return version === 6 && !text.includes('%') ? ipv6Bytes(text) : undefined;
}

function ipv6Bytes(text: string): Uint8Array {
  // The URL parser normalises an IPv6 address to groups of hexadecimal digits with at most one `::`.
  const canonical = new URL(`https://[${text}]`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const head = groups(before);
  const tail = after === undefined ? [] : groups(after);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return Uint8Array.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}
