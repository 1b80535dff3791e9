/** Builds X.509 certificates (RFC 5280, section 4): the structure in DER here, the signature by whoever holds the issuer's key. */

import { createHash, type KeyObject } from 'node:crypto';
import {
  Boolean as Asn1Boolean,
  type BaseBlock,
  BitString,
  Integer,
  Null,
  OctetString,
  type Primitive,
  Sequence,
  Utf8String,
} from 'asn1js';
import { contextPrimitive, encode, encoded, exact, explicit, objectIdentifier, parse, setOf, time } from './der.ts';
import { ipAddressBytes } from './ip-address.ts';

export type Purpose = 'code-signing' | 'time-stamping' | 'tls-server';
export type SignatureScheme = 'rsa-sha256' | 'ecdsa-sha256';

export interface DistinguishedName {
  readonly commonName: string;
  readonly organization?: string;
}

/** Whoever signs a certificate. */
export interface Issuer {
  readonly name: DistinguishedName;
  readonly publicKey: KeyObject;
  readonly scheme: SignatureScheme;
  /** Signs the DER of the TBSCertificate; RSA signatures raw, ECDSA ones as DER. */
  sign(toBeSigned: Uint8Array): Promise<Uint8Array>;
}

export interface CertificateRequest {
  readonly subject: DistinguishedName;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Positive when read as a signed integer, at most 20 bytes (RFC 5280, 4.1.2.2). */
  readonly serialNumber: Uint8Array;
  /** What the key may do: issue other certificates, or one purpose. */
  readonly use: 'authority' | Purpose;
  /** DNS names and IP addresses of a TLS server. */
  readonly alternativeNames?: readonly string[];
}

const SCHEME_OID: Readonly<Record<SignatureScheme, string>> = {
  'rsa-sha256': '1.2.840.113549.1.1.11',
  'ecdsa-sha256': '1.2.840.10045.4.3.2',
};
const PURPOSE: Readonly<Record<Purpose, { readonly oid: string; readonly critical: boolean }>> = {
  'code-signing': { oid: '1.3.6.1.5.5.7.3.3', critical: false },
  'time-stamping': { oid: '1.3.6.1.5.5.7.3.8', critical: true }, // RFC 3161, 2.3: critical, and the only one
  'tls-server': { oid: '1.3.6.1.5.5.7.3.1', critical: false },
};
/** Bits of keyUsage, first bit first (4.2.1.3), with the count of unused bits in their last byte. */
const KEY_USAGE = {
  digitalSignature: { bits: Uint8Array.of(0x80), unusedBits: 7 },
  keyCertSignAndCrlSign: { bits: Uint8Array.of(0x06), unusedBits: 1 },
} as const;

/** @returns the certificate in DER */
export async function issueCertificate(issuer: Issuer, request: CertificateRequest): Promise<Buffer> {
  const toBeSigned = toBeSignedCertificate(issuer, request);
  const signature = await issuer.sign(encode(toBeSigned));
  return encode(
    new Sequence({
      value: [toBeSigned, signatureAlgorithm(issuer.scheme), new BitString({ valueHex: exact(signature) })],
    }),
  );
}

/** A certificate, or a request for one, as PEM text (RFC 7468), ending with a newline. */
export function toPem(der: Uint8Array, label: 'CERTIFICATE' | 'CERTIFICATE REQUEST' = 'CERTIFICATE'): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

function toBeSignedCertificate(issuer: Issuer, request: CertificateRequest): Sequence {
  const publicKeyInfo = request.publicKey.export({ format: 'der', type: 'spki' });
  return new Sequence({
    value: [
      explicit(0, new Integer({ value: 2 })), // version 3
      new Integer({ valueHex: exact(request.serialNumber) }),
      signatureAlgorithm(issuer.scheme),
      name(issuer.name),
      new Sequence({ value: [time(request.notBefore), time(request.notAfter)] }),
      name(request.subject),
      encoded(publicKeyInfo),
      explicit(3, new Sequence({ value: extensions(issuer, request) })),
    ],
  });
}

function extensions(issuer: Issuer, request: CertificateRequest): Sequence[] {
  const { use } = request;
  const authority = use === 'authority';
  const usage = authority ? KEY_USAGE.keyCertSignAndCrlSign : KEY_USAGE.digitalSignature;
  const list = [
    extension('2.5.29.19', true, basicConstraints(authority)),
    extension('2.5.29.15', true, new BitString({ valueHex: exact(usage.bits), unusedBits: usage.unusedBits })),
    extension('2.5.29.14', false, new OctetString({ valueHex: exact(keyIdentifier(request.publicKey)) })),
    extension(
      '2.5.29.35',
      false,
      new Sequence({ value: [contextPrimitive(0, keyIdentifier(issuer.publicKey))] }), // AuthorityKeyIdentifier
    ),
  ];
  if (use !== 'authority') {
    const { oid, critical } = PURPOSE[use];
    list.push(extension('2.5.29.37', critical, new Sequence({ value: [objectIdentifier(oid)] })));
  }
  const names = request.alternativeNames ?? [];
  if (names.length > 0) list.push(extension('2.5.29.17', false, new Sequence({ value: names.map(generalName) })));
  return list;
}

function basicConstraints(authority: boolean): Sequence {
  // cA is FALSE by default and so left out; an authority of ours issues only end-entity certificates: pathLen 0.
  return new Sequence({ value: authority ? [new Asn1Boolean({ value: true }), new Integer({ value: 0 })] : [] });
}

function extension(oid: string, critical: boolean, value: BaseBlock): Sequence {
  return new Sequence({
    value: [
      objectIdentifier(oid),
      ...(critical ? [new Asn1Boolean({ value: true })] : []),
      new OctetString({ valueHex: exact(encode(value)) }),
    ],
  });
}

/** RFC 5280, 4.2.1.6: iPAddress [7] in network order, or dNSName [2]. */
function generalName(text: string): Primitive {
  const address = ipAddressBytes(text);
  return address === undefined ? contextPrimitive(2, Buffer.from(text, 'latin1')) : contextPrimitive(7, address);
}

/** RFC 5280, 4.2.1.2 method 1: SHA-1 of the subjectPublicKey bits. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const info = parse(publicKey.export({ format: 'der', type: 'spki' }));
  const bits = info instanceof Sequence ? info.valueBlock.value[1] : undefined;
  if (!(bits instanceof BitString)) throw new TypeError('a SubjectPublicKeyInfo without its bit string');
  return createHash('sha1').update(bits.valueBlock.valueHexView).digest();
}

export function signatureAlgorithm(scheme: SignatureScheme): Sequence {
  const oid = objectIdentifier(SCHEME_OID[scheme]);
  return new Sequence({ value: scheme === 'rsa-sha256' ? [oid, new Null()] : [oid] }); // RFC 4055, RFC 5758
}

export function name({ commonName, organization }: DistinguishedName): Sequence {
  const part = (oid: string, value: string) =>
    setOf([new Sequence({ value: [objectIdentifier(oid), new Utf8String({ value })] })]);
  return new Sequence({
    value: [...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName)],
  });
}
