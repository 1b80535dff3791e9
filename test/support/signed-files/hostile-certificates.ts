/** Certificates of which every part can be chosen, as no authority would issue them. With a key they are signed for real. */

import { type KeyObject, sign } from 'node:crypto';
import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  smallInteger,
} from '../../../src/asn1/write.ts';

export interface HostileCertificate {
  readonly subject?: Uint8Array;
  readonly issuer?: Uint8Array;
  readonly publicKey: Uint8Array | KeyObject;
  /** The key that signs it; without a key the signature is `signature`, or zeros. */
  readonly issuerKey?: KeyObject;
  readonly signature?: Uint8Array;
  /** Signs the body instead of `issuerKey`. */
  readonly signBody?: (body: Uint8Array) => Uint8Array;
  /** Of that signature; by the issuer's key when left out, or RSA with SHA-256. */
  readonly signatureAlgorithm?: Uint8Array;
  /** The algorithm outside the signed part: the same one if omitted. */
  readonly outerAlgorithm?: Uint8Array;
  readonly extensions?: readonly Uint8Array[];
  readonly validity?: readonly [Uint8Array, Uint8Array];
  readonly serialNumber?: Uint8Array;
}

export const CODE_SIGNING_PURPOSE = extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.3')));
export const TIME_STAMPING_PURPOSE = extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.8')), true);
export const AUTHORITY = extension('2.5.29.19', sequence(encode(0x01, Uint8Array.of(0xff))), true);

export function hostileCertificate(certificate: HostileCertificate): Uint8Array {
  const { subject = name('Hostile'), issuer = subject, publicKey, issuerKey, extensions = [] } = certificate;
  const [notBefore, notAfter] = certificate.validity ?? [utcTime('200101000000Z'), utcTime('450101000000Z')];
  const own = signatureAlgorithm(issuerKey);
  const algorithm = certificate.signatureAlgorithm ?? own.identifier;
  const body = sequence(
    contextConstructed(0, smallInteger(2)),
    encode(0x02, certificate.serialNumber ?? Uint8Array.of(1)),
    algorithm,
    issuer,
    sequence(notBefore, notAfter),
    subject,
    publicKey instanceof Uint8Array ? publicKey : publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [contextConstructed(3, sequence(...extensions))]),
  );
  const given = certificate.signBody?.(body) ?? certificate.signature;
  const signature = issuerKey === undefined ? (given ?? Buffer.alloc(256)) : sign(own.digest, body, issuerKey);
  return sequence(body, certificate.outerAlgorithm ?? algorithm, encode(0x03, Uint8Array.of(0), signature));
}

function signatureAlgorithm(key: KeyObject | undefined): { identifier: Uint8Array; digest: string | null } {
  switch (key?.asymmetricKeyType) {
    case 'ec':
      return { identifier: sequence(objectIdentifier('1.2.840.10045.4.3.2')), digest: 'sha256' };
    case 'ed25519':
      return { identifier: sequence(objectIdentifier('1.3.101.112')), digest: null };
    default:
      return { identifier: sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue()), digest: 'sha256' };
  }
}

/** A Name of common names; `tag`: their string type, UTF8String when left out. */
export function name(commonName: string | Uint8Array, tag = 0x0c): Uint8Array {
  return sequence(relativeName(commonName, tag));
}

export function relativeName(commonName: string | Uint8Array, tag = 0x0c): Uint8Array {
  return setOf(sequence(objectIdentifier('2.5.4.3'), encode(tag, Buffer.from(commonName))));
}

export function extension(type: string, value: Uint8Array, isCritical = false): Uint8Array {
  const critical = isCritical ? [encode(0x01, Uint8Array.of(0xff))] : [];
  return sequence(objectIdentifier(type), ...critical, octetString(value));
}

export const utcTime = (text: string): Uint8Array => encode(0x17, Buffer.from(text));
export const generalizedTime = (text: string): Uint8Array => encode(0x18, Buffer.from(text));

/** An RSA key of so many bits that its factors are unknown; the exponent has the bits given, or is 65537. */
export function rsaPublicKey(bits: number, exponentBits = 17): Uint8Array {
  const exponent = exponentBits === 17 ? Uint8Array.of(1, 0, 1) : oddNumber(exponentBits);
  const key = sequence(encode(0x02, oddNumber(bits)), encode(0x02, exponent));
  return subjectPublicKeyInfo(sequence(objectIdentifier('1.2.840.113549.1.1.1'), nullValue()), key);
}

export function subjectPublicKeyInfo(algorithm: Uint8Array, key: Uint8Array): Uint8Array {
  return sequence(algorithm, encode(0x03, Uint8Array.of(0), key));
}

/** Of just so many bits (a multiple of 8), half of them set. */
function oddNumber(bits: number): Uint8Array {
  return Buffer.concat([Uint8Array.of(0), Buffer.alloc(bits / 8, 0xa5)]);
}
