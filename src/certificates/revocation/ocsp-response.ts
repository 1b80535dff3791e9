/** Reads the fields of an OCSP response (RFC 6960, 4.2). `ocsp-status.ts` checks them. */

import { createHash } from 'node:crypto';
import { DIGEST_OID } from '../../asn1/algorithm-identifiers.ts';
import { OCSP_BASIC_RESPONSE } from '../../asn1/object-identifiers.ts';
import {
  algorithmOf,
  bitsOf,
  type Element,
  expectTag,
  fieldsOf,
  objectIdentifierOf,
  octetsOf,
  onlyPart,
  parts,
  readDer,
} from '../../asn1/read.ts';
import { readTime } from '../../asn1/times.ts';
import { nullValue, objectIdentifier, octetString, sequence } from '../../asn1/write.ts';
import { type Extension, readExtensions } from '../certificate-fields.ts';
import type { ParsedCertificate } from '../parsed-certificate.ts';
import type { Signed } from '../signature-algorithm.ts';

export interface OcspResponse extends Signed {
  /** The whole ResponderID: `[1]` for a name, `[2]` for a key. */
  readonly responder: Element;
  readonly answers: readonly OcspAnswer[];
  readonly certificates: readonly Uint8Array[];
  /** Dotted identifiers of critical extensions in the response or a single answer. This program knows none. */
  readonly criticalExtensions: readonly string[];
}

export interface OcspAnswer {
  readonly extensions: readonly Extension[];
  readonly digestAlgorithm: string;
  readonly issuerNameDigest: Uint8Array;
  readonly issuerKeyDigest: Uint8Array;
  /** The whole INTEGER. */
  readonly serialNumber: Uint8Array;
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly revokedAt: Date | undefined;
  readonly reason: number | undefined;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
}

const MAX_CERTIFICATES = 10;
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'it did not understand the request',
  2: 'it has an internal error',
  3: 'it asks for a later retry',
  5: 'it wants signed requests',
  6: 'it answers only those it knows',
};

/** Returns the response, or a clause for people that says why the responder refuses. Throws `asn1-malformed`. */
export function readOcspResponse(der: Uint8Array): OcspResponse | string {
  const what = 'OCSP answer';
  const outer = fieldsOf(readDer(der, what), 0x30, what);
  const status = outer.next(0x0a, 'status').contents[0] ?? 0;
  if (status !== 0) return REFUSALS[status] ?? `it rejects the request with status ${status}`;
  const typed = fieldsOf(onlyPart(outer.next(0xa0, 'response'), what), 0x30, what);
  const type = objectIdentifierOf(typed.next(0x06, 'type'), what);
  if (type !== OCSP_BASIC_RESPONSE) return `its answer is of type ${type}, which is not known here`;

  const basic = fieldsOf(readDer(octetsOf(typed.any('response'), what), what), 0x30, what);
  const body = basic.next(0x30, 'body');
  const signatureAlgorithm = basic.next(0x30, 'signature algorithm').bytes;
  const signature = bitsOf(basic.next(0x03, 'signature'), what);
  const certificates = basic.optional(0xa0);
  const held = certificates === undefined ? [] : parts(onlyPart(certificates, what), what);

  const fields = fieldsOf(body, 0x30, what);
  fields.optional(0xa0); // version
  const responder = fields.any('responder');
  fields.next(0x18, 'time of production');
  const answers = parts(fields.next(0x30, 'answers'), what).map(readAnswer);
  const extensions = extensionsIn(fields.optional(0xa1));
  return {
    responder,
    answers,
    signedBytes: body.bytes,
    signatureAlgorithm,
    signature,
    certificates: held.slice(0, MAX_CERTIFICATES).map(({ bytes }) => bytes),
    criticalExtensions: [...extensions, ...answers.flatMap((one) => one.extensions)].flatMap(({ type, isCritical }) =>
      isCritical ? [type] : [],
    ),
  };
}

function extensionsIn(tagged: Element | undefined): readonly Extension[] {
  return readExtensions(tagged && onlyPart(tagged, 'OCSP extensions'), 'OCSP extensions');
}

function readAnswer(element: Element): OcspAnswer {
  const what = 'OCSP answer';
  const fields = fieldsOf(element, 0x30, what);
  const id = fieldsOf(fields.next(0x30, 'certificate'), 0x30, what);
  const digestAlgorithm = algorithmOf(id.next(0x30, 'digest algorithm'), what);
  const status = fields.any('status');
  const revoked = status.tag === 0xa1 ? parts(status, what) : [];
  const [time, reason] = revoked;
  const thisUpdate = readTime(fields.next(0x18, 'this update'), what);
  const nextUpdate = fields.optional(0xa0);
  const extensions = extensionsIn(fields.optional(0xa1));
  return {
    extensions,
    digestAlgorithm,
    issuerNameDigest: octetsOf(id.any('name'), what),
    issuerKeyDigest: octetsOf(id.any('key'), what),
    serialNumber: id.next(0x02, 'serial number').bytes,
    status: status.tag === 0x80 ? 'good' : status.tag === 0xa1 ? 'revoked' : 'unknown',
    // A revoked certificate without a time is still revoked.
    revokedAt: time && readTime(time, what),
    reason: reason && expectTag(onlyPart(reason, what), 0x0a, what).contents[0],
    thisUpdate,
    nextUpdate: nextUpdate && readTime(onlyPart(nextUpdate, what), what),
  };
}

/** Identifies the certificate by SHA-1, which every responder supports; security does not depend on it here. */
export function buildOcspRequest(certificate: ParsedCertificate, issuer: ParsedCertificate): Uint8Array {
  const { nameDigest, keyDigest } = issuerDigests(certificate, issuer, 'sha1');
  const algorithm = sequence(objectIdentifier(DIGEST_OID.SHA1), nullValue());
  const id = sequence(algorithm, octetString(nameDigest), octetString(keyDigest), certificate.fields.serialNumber);
  return sequence(sequence(sequence(sequence(id))));
}

/** Digests the issuer's name as encoded in the certificate, and the issuer's key. */
export function issuerDigests(certificate: ParsedCertificate, issuer: ParsedCertificate, digestName: string) {
  return {
    nameDigest: createHash(digestName).update(certificate.fields.issuer).digest(),
    keyDigest: createHash(digestName).update(keyBitsOf(issuer)).digest(),
  };
}

/** Returns the BIT STRING in the SubjectPublicKeyInfo without the octet for unused bits. */
export function keyBitsOf({ fields }: ParsedCertificate): Uint8Array {
  const info = fieldsOf(readDer(fields.publicKeyInfo, 'public key'), 0x30, 'public key');
  info.next(0x30, 'algorithm');
  return bitsOf(info.next(0x03, 'key'), 'public key');
}
