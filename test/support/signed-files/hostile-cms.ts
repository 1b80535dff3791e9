/** CMS signatures with whatever a user may put into them to deceive or to exhaust: signed for real, and any part can be chosen. */

import { createHash, type KeyObject, sign } from 'node:crypto';
import { CONTENT_TYPE, DATA, MESSAGE_DIGEST, SIGNED_DATA } from '../../../src/asn1/object-identifiers.ts';
import { firstParts, readDer } from '../../../src/asn1/read.ts';
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

/** Who signs: a certificate and a key, which need not belong together. */
export interface HostileSigner {
  readonly der: Uint8Array;
  readonly privateKey: KeyObject;
}

export interface HostileCms {
  readonly signer: HostileSigner;
  readonly contentType?: string;
  /** Encoded, as it stands under `[0]`; detached when left out. */
  readonly content?: Uint8Array | undefined;
  /** What messageDigest is over: the contents of `content` when left out. */
  readonly digested?: Uint8Array;
  /** SHA-256 when left out. */
  readonly digest?: Digest;
  /** In the order given; the signer's alone when left out. */
  readonly certificates?: readonly Uint8Array[];
  readonly signedAttributes?: readonly Uint8Array[];
  /** The value of the attribute contentType. */
  readonly signedContentType?: string;
  readonly messageDigests?: number;
  /** Without signed attributes, the content itself is signed. */
  readonly withoutAttributes?: boolean;
  /** The signed attributes from the last to the first. */
  readonly backwards?: boolean;
  /** Encoded attributes, in this order, or a function that makes them from the signature value. */
  readonly unsignedAttributes?: readonly Uint8Array[] | ((signature: Uint8Array) => readonly Uint8Array[]);
  readonly signers?: number;
  /** Others who sign the same, each with a SignerInfo of its own. */
  readonly coSigners?: readonly HostileSigner[];
  readonly crls?: Uint8Array;
  readonly version?: number;
  /** The AlgorithmIdentifier of the signature value. */
  readonly signatureAlgorithm?: Uint8Array;
  readonly signature?: Uint8Array;
  readonly afterSignature?: Uint8Array;
  readonly afterSigners?: Uint8Array;
}

/** An algorithm by its object identifier, and by its name in Node.js. */
export interface Digest {
  readonly oid: string;
  readonly name: string;
}

export const SHA256: Digest = { oid: '2.16.840.1.101.3.4.2.1', name: 'sha256' };
export const algorithm = (oid: string): Uint8Array => sequence(objectIdentifier(oid), nullValue());

/** An attribute with these values, encoded. */
export function attribute(type: string, ...values: readonly Uint8Array[]): Uint8Array {
  return sequence(objectIdentifier(type), encode(0x31, ...values));
}

export function hostileCms(cms: HostileCms): Uint8Array {
  const { signer, contentType = DATA, content, digest = SHA256, signers = 1, crls } = cms;
  const digested = cms.digested ?? (content === undefined ? new Uint8Array() : contentsOf(content));
  const signerInfo = signerInfoOf(cms, contentType, digested);
  const encapsulated = content === undefined ? [] : [contextConstructed(0, content)];
  const signedData = sequence(
    smallInteger(cms.version ?? 1),
    setOf(algorithm(digest.oid)),
    sequence(objectIdentifier(contentType), ...encapsulated),
    contextConstructed(0, ...(cms.certificates ?? [signer.der])),
    ...(crls === undefined ? [] : [contextConstructed(1, crls)]),
    encode(
      0x31,
      ...new Array<Uint8Array>(signers).fill(signerInfo),
      ...(cms.coSigners ?? []).map((other) => signerInfoOf({ ...cms, signer: other }, contentType, digested)),
    ),
    ...(cms.afterSigners === undefined ? [] : [cms.afterSigners]),
  );
  return sequence(objectIdentifier(SIGNED_DATA), contextConstructed(0, signedData));
}

function signerInfoOf(cms: HostileCms, contentType: string, digested: Uint8Array): Uint8Array {
  const { digest = SHA256, messageDigests = 1, withoutAttributes = false, unsignedAttributes = [] } = cms;
  const messageDigest = attribute(MESSAGE_DIGEST, octetString(createHash(digest.name).update(digested).digest()));
  const sorted = [
    attribute(CONTENT_TYPE, objectIdentifier(cms.signedContentType ?? contentType)),
    ...new Array<Uint8Array>(messageDigests).fill(messageDigest),
    ...(cms.signedAttributes ?? []),
  ].sort(Buffer.compare);
  const signed = encode(0x31, ...(cms.backwards ? sorted.toReversed() : sorted));
  const { privateKey } = cms.signer;
  const name = privateKey.asymmetricKeyType === 'ed25519' ? null : digest.name;
  const signature = cms.signature ?? sign(name, withoutAttributes ? digested : signed, privateKey);
  const unsigned = typeof unsignedAttributes === 'function' ? unsignedAttributes(signature) : unsignedAttributes;
  const tagged = Uint8Array.from(signed);
  tagged[0] = 0xa0;
  return sequence(
    smallInteger(1),
    issuerAndSerial(cms.signer.der),
    algorithm(digest.oid),
    ...(withoutAttributes ? [] : [tagged]),
    cms.signatureAlgorithm ?? signatureAlgorithmOf(privateKey),
    octetString(signature),
    ...(unsigned.length === 0 ? [] : [contextConstructed(1, ...unsigned)]),
    ...(cms.afterSignature === undefined ? [] : [cms.afterSignature]),
  );
}

/** Of a certificate with a version, whatever else is in it. */
function issuerAndSerial(certificate: Uint8Array): Uint8Array {
  const [body] = firstParts(readDer(certificate, 'certificate'), 'certificate', 1);
  const [, serialNumber, , issuer] = body === undefined ? [] : firstParts(body, 'certificate', 4);
  if (serialNumber === undefined || issuer === undefined) throw new Error('no certificate with a version');
  return sequence(issuer.bytes, serialNumber.bytes);
}

function signatureAlgorithmOf({ asymmetricKeyType }: KeyObject): Uint8Array {
  if (asymmetricKeyType === 'ec') return sequence(objectIdentifier('1.2.840.10045.4.3.2'));
  if (asymmetricKeyType === 'ed25519') return sequence(objectIdentifier('1.3.101.112'));
  return algorithm('1.2.840.113549.1.1.1');
}

function contentsOf(encoded: Uint8Array): Uint8Array {
  const first = encoded[1] ?? 0;
  return encoded.subarray(first < 0x80 ? 2 : 2 + (first & 0x7f));
}
