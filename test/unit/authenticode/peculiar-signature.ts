/** Authenticode signatures as no program of today makes them, put together apart from the code under test. */

import { createHash, sign } from 'node:crypto';
import { SPC_INDIRECT_DATA } from '../../../src/asn1/object-identifiers.ts';
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
import { readCertificateFields } from '../../../src/certificates/certificate.ts';
import type { IssuedCertificate } from '../../support/signed-files/pki.ts';

const SHA256 = { oid: '2.16.840.1.101.3.4.2.1', name: 'sha256' };
export const SHA1 = { oid: '1.3.14.3.2.26', name: 'sha1' };
export const MD5 = { oid: '1.2.840.113549.2.5', name: 'md5' };

export interface Peculiar {
  readonly certificates?: readonly Uint8Array[];
  /** Of content and signature. */
  readonly digest?: typeof SHA256;
  /** Of the content alone. */
  readonly contentDigest?: typeof SHA256;
  /** What was digested: the text `content` when left out. */
  readonly digested?: Uint8Array;
  /** Dotted; that of a PE when left out. */
  readonly dataType?: string;
  readonly dataValue?: Uint8Array;
  readonly contentType?: string;
  /** The value of the attribute contentType. */
  readonly signedContentType?: string;
  readonly messageDigests?: number;
  /** Without signed attributes, the content itself is signed. */
  readonly withoutAttributes?: boolean;
  /** In addition to contentType and messageDigest, complete. */
  readonly signedAttributes?: readonly Uint8Array[];
  /** The signed attributes from the last to the first. */
  readonly backwards?: boolean;
  /** Whole. */
  readonly unsignedAttributes?: readonly Uint8Array[];
  readonly wrap?: boolean;
  readonly signatureOid?: string;
  readonly content?: readonly Uint8Array[];
  readonly signers?: number;
  readonly afterSignature?: Uint8Array;
  readonly afterSigners?: Uint8Array;
}

/** The attribute with these values, in this order. */
export function attribute(oid: string, ...values: readonly Uint8Array[]): Uint8Array {
  return sequence(objectIdentifier(oid), encode(0x31, ...values));
}

/** An RSA or EC signature by `signer`, sound except for what is requested. */
export function peculiarSignature(
  signer: Pick<IssuedCertificate, 'der' | 'privateKey'>,
  options: Peculiar = {},
): Uint8Array {
  const { digest = SHA256, contentType = SPC_INDIRECT_DATA } = options;
  const { contentDigest = digest, dataType = '1.3.6.1.4.1.311.2.1.15', dataValue = sequence() } = options;
  const algorithm = sequence(objectIdentifier(digest.oid), nullValue());
  const contentAlgorithm = sequence(objectIdentifier(contentDigest.oid), nullValue());
  const hashed = createHash(contentDigest.name)
    .update(options.digested ?? 'content')
    .digest();
  const body = [sequence(objectIdentifier(dataType), dataValue), sequence(contentAlgorithm, octetString(hashed))];
  const digested = options.wrap ? sequence(...body) : Buffer.concat(body);
  const content = options.wrap ? octetString(digested) : sequence(...body);
  const messageDigest = createHash(digest.name).update(digested).digest();
  const sorted = [
    attribute('1.2.840.113549.1.9.3', objectIdentifier(options.signedContentType ?? contentType)),
    ...Array.from({ length: options.messageDigests ?? 1 }, () =>
      attribute('1.2.840.113549.1.9.4', octetString(messageDigest)),
    ),
    ...(options.signedAttributes ?? []),
  ].sort(Buffer.compare);
  const attributes = encode(0x31, ...(options.backwards ? sorted.toReversed() : sorted));
  const inside = Uint8Array.from(attributes);
  inside[0] = 0xa0;
  const { issuer, serialNumber } = readCertificateFields(signer.der);
  const signerInfo = sequence(
    smallInteger(1),
    sequence(issuer, serialNumber),
    algorithm,
    ...(options.withoutAttributes ? [] : [inside]),
    sequence(objectIdentifier(options.signatureOid ?? '1.2.840.113549.1.1.1'), nullValue()),
    octetString(sign(digest.name, options.withoutAttributes ? digested : attributes, signer.privateKey)),
    ...(options.unsignedAttributes === undefined ? [] : [contextConstructed(1, ...options.unsignedAttributes)]),
    ...(options.afterSignature === undefined ? [] : [options.afterSignature]),
  );
  const signedData = sequence(
    smallInteger(1),
    setOf(algorithm),
    sequence(objectIdentifier(contentType), ...(options.content ?? [contextConstructed(0, content)])),
    contextConstructed(0, ...(options.certificates ?? [signer.der])),
    encode(0x31, ...Array.from({ length: options.signers ?? 1 }, () => signerInfo)),
    ...(options.afterSigners === undefined ? [] : [options.afterSigners]),
  );
  return sequence(objectIdentifier('1.2.840.113549.1.7.2'), contextConstructed(0, signedData));
}
