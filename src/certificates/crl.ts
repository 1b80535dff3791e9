/**
 * Certificate revocation lists (RFC 5280, section 5). They may have 20 MB and a million entries: the frame is read at
 * once, the entries are walked over where they lie, and an object is made of none but the one looked for.
 */

import { type Element, expectTag, fieldsOf, objectIdentifierOf, octetsOf, parts, readDer } from '../asn1/read.ts';
import { readName } from './names.ts';
import { addressesOfPoint } from './revocation-sources.ts';
import { readTime } from './times.ts';

export interface Crl {
  /** Comparable, as `subjectKey` of its issuer. */
  readonly issuerKey: string;
  /** For people. */
  readonly issuerName: string;
  readonly thisUpdate: Date;
  /** undefined: not said. */
  readonly nextUpdate: Date | undefined;
  readonly scope: CrlScope;
  /** What was signed: the whole tbsCertList. */
  readonly signedBytes: Uint8Array;
  /** The whole AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
  /** The contents of revokedCertificates. */
  readonly entries: Uint8Array;
}

export interface CrlScope {
  /** Why the list cannot be used here at all (indirect, delta, some reasons only, unknown), for people. */
  readonly problem: string | undefined;
  readonly covers: 'all' | 'end-entities' | 'authorities';
  /** The distribution points it is for; undefined: for all. */
  readonly addresses: readonly string[] | undefined;
}

const ISSUING_DISTRIBUTION_POINT = '2.5.29.28';
const DELTA_CRL_INDICATOR = '2.5.29.27';
/** Neither says anything about what the list covers: authorityKeyIdentifier, cRLNumber. */
const HARMLESS_EXTENSIONS: ReadonlySet<string> = new Set(['2.5.29.35', '2.5.29.20']);

/** Reads the CRL at the start of `der`. Throws `asn1-malformed`. */
export function parseCrl(der: Uint8Array): Crl {
  const what = 'CRL';
  const outer = fieldsOf(readDer(der, what), 0x30, what);
  const body = outer.next(0x30, 'body');
  const signatureAlgorithm = outer.next(0x30, 'signature algorithm').bytes;
  const signature = bitsOf(outer.next(0x03, 'signature'), what);
  outer.end();

  const fields = fieldsOf(body, 0x30, what);
  fields.optional(0x02); // version
  const innerAlgorithm = fields.next(0x30, 'signature algorithm').bytes;
  const issuer = readName(fields.next(0x30, 'issuer').bytes);
  const thisUpdate = readTime(fields.any('this update'), what);
  const nextUpdate = fields.optional(0x17) ?? fields.optional(0x18);
  const entries = fields.optional(0x30);
  const extensions = fields.optional(0xa0);
  fields.end();
  const isConsistent = Buffer.compare(innerAlgorithm, signatureAlgorithm) === 0;
  const scope = readScope(extensions);
  return {
    issuerKey: issuer.key,
    issuerName: issuer.commonName ?? issuer.text,
    thisUpdate,
    nextUpdate: nextUpdate && readTime(nextUpdate, what),
    scope: isConsistent ? scope : { ...scope, problem: 'it names two signature algorithms' },
    signedBytes: body.bytes,
    signatureAlgorithm,
    signature,
    entries: entries?.contents ?? new Uint8Array(),
  };
}

/** The octets of a BIT STRING without unused bits. */
export function bitsOf(element: Element, what: string): Uint8Array {
  const { contents } = expectTag(element, 0x03, what);
  return contents.subarray(1);
}

function readScope(tagged: Element | undefined): CrlScope {
  let scope: CrlScope = { problem: undefined, covers: 'all', addresses: undefined };
  const what = 'CRL extensions';
  const [list] = tagged === undefined ? [] : parts(tagged, what);
  for (const extension of list === undefined ? [] : parts(list, what)) {
    const fields = fieldsOf(extension, 0x30, what);
    const type = objectIdentifierOf(fields.next(0x06, 'type'), what);
    const critical = fields.optional(0x01)?.contents[0] ?? 0;
    const value = octetsOf(fields.any('value'), what);
    // Both must be critical, and mean the same when they are not.
    if (type === DELTA_CRL_INDICATOR) scope = { ...scope, problem: 'it holds changes only (a delta CRL)' };
    else if (type === ISSUING_DISTRIBUTION_POINT) scope = readDistributionPoint(value, scope);
    else if (critical !== 0 && !HARMLESS_EXTENSIONS.has(type)) {
      scope = { ...scope, problem: `it has the critical extension ${type}, which is not known here` };
    }
  }
  return scope;
}

function readDistributionPoint(value: Uint8Array, scope: CrlScope): CrlScope {
  const what = 'issuingDistributionPoint';
  const fields = fieldsOf(readDer(value, what), 0x30, what);
  const name = fields.optional(0xa0);
  const isSet = (tag: number): boolean => (fields.optional(tag)?.contents[0] ?? 0) !== 0;
  const endEntitiesOnly = isSet(0x81);
  const authoritiesOnly = isSet(0x82);
  const someReasonsOnly = fields.optional(0x83) !== undefined;
  const isIndirect = isSet(0x84);
  const attributesOnly = isSet(0x85);
  fields.end();
  let { problem } = scope;
  if (someReasonsOnly) problem = 'it holds revocations for some reasons only';
  if (isIndirect) problem = "it holds other issuers' certificates (an indirect CRL)";
  if (attributesOnly || (endEntitiesOnly && authoritiesOnly)) problem = 'it covers no public key certificates';
  const covers = endEntitiesOnly ? 'end-entities' : authoritiesOnly ? 'authorities' : 'all';
  return { problem, covers, addresses: name && addressesOfPoint(name, what) };
}

export interface CrlEntry {
  readonly revokedAt: Date;
  /** CRLReason; undefined: not said. */
  readonly reason: number | undefined;
  /** Since when the key is known or suspected to be in wrong hands; undefined: not said. */
  readonly invalidSince: Date | undefined;
}

/** The entry of a certificate, by the whole INTEGER of its serial number. Throws `asn1-malformed`. */
export function findInCrl({ entries }: Crl, serialNumber: Uint8Array): CrlEntry | undefined {
  const wanted = Buffer.from(serialNumber.buffer, serialNumber.byteOffset, serialNumber.byteLength);
  const all = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength);
  for (let position = 0; position < all.length; ) {
    const first = all[position + 1] ?? 0;
    // Entries are short: their length nearly always has one octet, sometimes two or three.
    const header = first < 0x80 ? 2 : 2 + (first & 0x7f);
    const length = first < 0x80 ? first : lengthAt(all, position + 2, header - 2);
    const end = position + header + length;
    if (all[position] !== 0x30 || header > 6 || end > all.length) {
      // Reading it says what is wrong with it.
      expectTag(readDer(all.subarray(position), 'CRL entry'), 0x30, 'CRL entry');
    }
    const serial = position + header;
    // The tag and the length of the INTEGER are compared with it, so that none is taken for the start of a longer one.
    if (all.compare(wanted, 0, wanted.length, serial, Math.min(serial + wanted.length, end)) === 0) {
      return readEntry(all.subarray(position, end));
    }
    position = end;
  }
  return undefined;
}

function lengthAt(bytes: Uint8Array, position: number, octets: number): number {
  let length = 0;
  for (let index = 0; index < octets && index < 4; index += 1) length = length * 256 + (bytes[position + index] ?? 0);
  return length;
}

const REASON_CODE = '2.5.29.21';
const INVALIDITY_DATE = '2.5.29.24';

function readEntry(der: Uint8Array): CrlEntry {
  const what = 'CRL entry';
  const fields = fieldsOf(readDer(der, what), 0x30, what);
  fields.next(0x02, 'serial number');
  const revokedAt = readTime(fields.any('revocation date'), what);
  const extensions = fields.optional(0x30);
  fields.end();
  let reason: number | undefined;
  let invalidSince: Date | undefined;
  for (const extension of extensions === undefined ? [] : parts(extensions, what)) {
    const extensionFields = fieldsOf(extension, 0x30, what);
    const type = objectIdentifierOf(extensionFields.next(0x06, 'type'), what);
    extensionFields.optional(0x01); // critical: whatever it says beside, the certificate is revoked
    const value = readDer(octetsOf(extensionFields.any('value'), what), what);
    if (type === REASON_CODE) reason = expectTag(value, 0x0a, what).contents[0];
    if (type === INVALIDITY_DATE) invalidSince = readTime(value, what);
  }
  return { revokedAt, reason, invalidSince };
}
