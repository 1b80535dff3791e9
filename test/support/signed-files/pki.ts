/**
 * Throw-away keys and certificates of every kind that reading a chain must tell apart, with the files they come in. Keys
 * are made only when requested.
 */

import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import {
  contextConstructed,
  encode,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  smallInteger,
} from '../../../src/asn1/write.ts';
import { AUTHORITY, extension, hostileCertificate } from './hostile-certificates.ts';
import { rsaKey } from './rsa-keys.ts';

export type KeyKind = 'rsa-1024' | 'rsa-2048' | 'rsa-3072' | 'rsa-4096' | 'ec' | 'ed25519';
export type KeyUsage = 'digitalSignature' | 'contentCommitment' | 'keyEncipherment' | 'keyCertSign';

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface IssuedCertificate extends KeyPair {
  readonly der: Uint8Array;
  readonly pem: string;
  readonly subject: Uint8Array;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** In front of the common name in the subject. */
  readonly organization?: string;
  readonly issuer?: IssuedCertificate;
  readonly key: KeyPair;
  readonly ca?: boolean;
  /** No extension when empty; digitalSignature (keyCertSign for a CA) when left out. */
  readonly keyUsage?: readonly KeyUsage[];
  /** Dotted; no extension when empty; codeSigning (nothing for a CA) when left out. */
  readonly purposes?: readonly string[];
  /** DNS names and IP addresses of the subject alternative name; no extension when left out. */
  readonly altNames?: readonly string[];
  readonly isPurposeCritical?: boolean;
  readonly serialNumber?: Uint8Array;
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
  /** Whether to name the key in an extension (subjectKeyIdentifier). */
  readonly keyIdentifier?: boolean;
  /** The name's string type: 0x0c UTF8String when left out, 0x13 PrintableString. */
  readonly nameTag?: number;
}

export const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
export const ANY_PURPOSE = '2.5.29.37.0';
const KEY_USAGE_BIT: Readonly<Record<KeyUsage, number>> = {
  digitalSignature: 0x80,
  contentCommitment: 0x40,
  keyEncipherment: 0x20,
  keyCertSign: 0x04,
};

const keys = new Map<string, KeyPair>();

/** The key of this kind and name: the same one for the same arguments. */
export function testKey(kind: KeyKind, name = ''): KeyPair {
  const id = `${kind} ${name}`;
  const known = keys.get(id) ?? makeKey(kind, name);
  keys.set(id, known);
  return known;
}

function makeKey(kind: KeyKind, name: string): KeyPair {
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (kind === 'ed25519') return generateKeyPairSync('ed25519');
  return rsaKey(Number(kind.slice(4)), name);
}

/** A certificate as requested, valid 2020 to 2045 unless told otherwise. */
export function issue(request: CertificateRequest): IssuedCertificate {
  const { commonName, organization, key, nameTag = 0x0c } = request;
  const subject = distinguishedName(commonName, organization, nameTag);
  const issuer = request.issuer ?? { ...key, subject };
  const der = hostileCertificate({
    subject,
    issuer: issuer.subject,
    publicKey: key.publicKey,
    issuerKey: issuer.privateKey,
    extensions: extensionsFor(request),
    validity: [time(request.notBefore ?? new Date('2020-01-01')), time(request.notAfter ?? new Date('2045-01-01'))],
    serialNumber: request.serialNumber ?? serialNumber(JSON.stringify(commonName), key),
  });
  return { ...key, der, pem: pemBlock('CERTIFICATE', der), subject };
}

export interface Pki {
  readonly root: IssuedCertificate;
  readonly intermediate: IssuedCertificate;
  /** A leaf under the intermediate: RSA-2048 for code signing unless told otherwise. */
  leaf(request?: Partial<CertificateRequest>): IssuedCertificate;
}

/** A root, an intermediate and the leaves requested. `name` keeps several PKIs apart by the names of their certificates. */
export function makePki(name = 'Test'): Pki {
  const root = issue({ commonName: `${name} Root`, key: testKey('rsa-2048', 'root'), ca: true });
  const intermediate = issue({
    commonName: `${name} Code Signing CA`,
    issuer: root,
    key: testKey('rsa-2048', 'intermediate'),
    ca: true,
  });
  return {
    root,
    intermediate,
    leaf: (request = {}) =>
      issue({ commonName: `${name} Publisher`, issuer: intermediate, key: testKey('rsa-2048'), ...request }),
  };
}

export function pemBlock(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** PKCS#7 with certificates and no signer, DER. */
export function toP7b(certificates: readonly Uint8Array[]): Uint8Array {
  const set = Uint8Array.from(setOf(...certificates));
  set[0] = 0xa0;
  const data = sequence(objectIdentifier('1.2.840.113549.1.7.1'));
  const signedData = sequence(smallInteger(1), setOf(), data, set, setOf());
  return sequence(objectIdentifier('1.2.840.113549.1.7.2'), contextConstructed(0, signedData));
}

/** PKCS#12 with the first certificate's key; RSA certificates only. */
export function toP12(
  certificates: readonly IssuedCertificate[],
  password: string,
  algorithm: '3des' | 'aes256' = 'aes256',
): Uint8Array {
  const [leaf] = certificates;
  if (leaf === undefined) throw new Error('no certificate to put into the PKCS#12 file');
  const key = forge.pki.privateKeyFromPem(leaf.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  const bags = certificates.map(({ pem }) => forge.pki.certificateFromPem(pem));
  const pfx = forge.pkcs12.toPkcs12Asn1(key, bags, password, { algorithm });
  return Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1');
}

function distinguishedName(commonName: string, organization: string | undefined, nameTag: number): Uint8Array {
  const part = (type: string, text: string) =>
    setOf(sequence(objectIdentifier(type), encode(nameTag, Buffer.from(text, 'utf8'))));
  return sequence(...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName));
}

function extensionsFor(request: CertificateRequest): Uint8Array[] {
  const { ca = false, altNames = [], isPurposeCritical = true } = request;
  const usages = request.keyUsage ?? [ca ? 'keyCertSign' : 'digitalSignature'];
  const purposes = request.purposes ?? (ca ? [] : [CODE_SIGNING]);
  const bits = usages.reduce((sum, usage) => sum | KEY_USAGE_BIT[usage], 0);
  const usage = encode(0x03, Uint8Array.of(trailingZeros(bits), bits));
  const purpose = sequence(...purposes.map(objectIdentifier));
  return [
    ...(ca ? [AUTHORITY] : []),
    ...(usages.length === 0 ? [] : [extension('2.5.29.15', usage, true)]),
    ...(request.keyIdentifier ? [extension('2.5.29.14', octetString(Uint8Array.of(1, 2, 3, 4)))] : []),
    ...(altNames.length === 0 ? [] : [extension('2.5.29.17', sequence(...altNames.map(generalName)))]),
    ...(purposes.length === 0 ? [] : [extension('2.5.29.37', purpose, isPurposeCritical)]),
  ];
}

/** A DNS name, or an IP address. */
function generalName(name: string): Uint8Array {
  if (isIP(name) === 0) return encode(0x82, Buffer.from(name));
  return encode(
    0x87,
    name === '::1' ? Buffer.from('1'.padStart(32, '0'), 'hex') : Buffer.from(name.split('.').map(Number)),
  );
}

function trailingZeros(octet: number): number {
  return octet === 0 ? 7 : 31 - Math.clz32(octet & -octet);
}

/** Positive, and different for different subjects and keys. */
function serialNumber(text: string, key: KeyPair): Uint8Array {
  const digest = createHash('sha256')
    .update(text)
    .update(key.publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  return Buffer.concat([Uint8Array.of(0x42), digest.subarray(0, 15)]);
}

/** UTCTime up to 2049, GeneralizedTime from then on (RFC 5280, 4.1.2.5). */
function time(date: Date): Uint8Array {
  const digits = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050 ? encode(0x17, Buffer.from(digits.slice(2))) : encode(0x18, Buffer.from(digits));
}
