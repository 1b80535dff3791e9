/** Certificate revocation lists (RFC 5280, section 5). */

import {
  AUTHORITY_KEY_IDENTIFIER,
  CERTIFICATE_ISSUER,
  CRL_NUMBER,
  DELTA_CRL_INDICATOR,
  HOLD_INSTRUCTION,
  INVALIDITY_DATE,
  ISSUING_DISTRIBUTION_POINT,
  REASON_CODE,
} from '../../asn1/object-identifiers.ts';
import { bitsOf, type Element, expectTag, fieldsOf, onlyPart, parts, readDer } from '../../asn1/read.ts';
import { readTime } from '../../asn1/times.ts';
import { isSameBytes } from '../../bytes/byte-source.ts';
import { memoize } from '../../bytes/reuse.ts';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import { CodesignError, orUndefined } from '../../errors/codesign-error.ts';
import { type Extension, type ParsedCertificate, readExtensions } from '../certificate.ts';
import { GENERAL_NAME, readName } from '../names.ts';
import { isSignedBy } from '../signature-algorithm.ts';
import { pointNames } from './sources.ts';

export interface Crl {
  /** Equals the issuer's `subjectKey`. */
  readonly issuerKey: string;
  readonly issuerName: string;
  readonly isSignedBy: (issuer: ParsedCertificate) => boolean;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
  readonly scope: CrlScope;
  readonly entries: Uint8Array;
}

export interface CrlScope {
  readonly problem: string | undefined;
  /** Says why an unlisted certificate may still be revoked, for example because the list is a delta. */
  readonly partial: string | undefined;
  readonly isIndirect: boolean;
  readonly covers: 'all' | 'end-entities' | 'authorities';
  /** Distribution points that the list covers. undefined if the list covers all distribution points. */
  readonly points: readonly string[] | undefined;
}

/** Critical extensions that do not affect which certificates a list covers. */
const HARMLESS_EXTENSIONS: ReadonlySet<string> = new Set([AUTHORITY_KEY_IDENTIFIER, CRL_NUMBER]);

const MAX_REMEMBERED_KEYS = 100;

export function parseCrl(der: Uint8Array): Crl {
  const what = 'CRL';
  const outer = fieldsOf(readDer(der, what), 0x30, what);
  const body = outer.next(0x30, 'body');
  const signatureAlgorithm = outer.next(0x30, 'signature algorithm').bytes;
  const signature = bitsOf(outer.next(0x03, 'signature'), what);
  outer.end();

  const fields = fieldsOf(body, 0x30, what);
  const version = fields.optional(0x02);
  const innerAlgorithm = fields.next(0x30, 'signature algorithm').bytes;
  const issuerField = fields.next(0x30, 'issuer').bytes;
  const issuer = readName(issuerField);
  const thisUpdate = readTime(fields.any('this update'), what);
  const nextUpdate = fields.optional(0x17) ?? fields.optional(0x18);
  const entries = fields.optional(0x30);
  const tagged = fields.optional(0xa0);
  const extensions = readExtensions(tagged && onlyPart(tagged, what), what);
  fields.end();
  const isConsistent = isSameBytes(innerAlgorithm, signatureAlgorithm);
  const scope = readScope(extensions, issuerField);
  const problem = isConsistent ? versionProblem(version, extensions) : 'its two signature algorithms differ';
  const signed = { signedBytes: body.bytes, signatureAlgorithm, signature };
  const keyOf = ({ fields }: ParsedCertificate) => fingerprintOf(fields.publicKeyInfo);
  return {
    issuerKey: issuer.key,
    issuerName: issuer.commonName ?? issuer.text,
    isSignedBy: memoize(MAX_REMEMBERED_KEYS, keyOf, (signer) => isSignedBy(signer, signed)),
    thisUpdate,
    nextUpdate: nextUpdate && readTime(nextUpdate, what),
    scope: problem === undefined ? scope : { ...scope, problem },
    entries: entries?.contents ?? new Uint8Array(),
  };
}

/** The version must be absent, or 1 ("v2"), which extensions require (RFC 5280, section 5.1.2.1). */
function versionProblem(version: Element | undefined, extensions: readonly Extension[]): string | undefined {
  if (version === undefined) return extensions.length === 0 ? undefined : 'it has extensions but no version';
  return version.contents.length === 1 && version.contents[0] === 1 ? undefined : 'its version is not supported';
}

function readScope(extensions: readonly Extension[], issuer: Uint8Array): CrlScope {
  const everything = { partial: undefined, isIndirect: false, covers: 'all', points: undefined } as const;
  let scope: CrlScope = { problem: undefined, ...everything };
  for (const { type, isCritical, value } of extensions) {
    // These extensions should be critical, but mean the same if they are not.
    if (type === DELTA_CRL_INDICATOR) {
      scope = { ...scope, partial: 'it contains only changes (a delta CRL)' };
    } else if (type === ISSUING_DISTRIBUTION_POINT) {
      scope = readDistributionPoint(value, scope, issuer);
    } else if (isCritical && !HARMLESS_EXTENSIONS.has(type)) {
      scope = { ...scope, partial: `it has the critical extension ${type}, which is not supported` };
    }
  }
  return scope;
}

function readDistributionPoint(value: Uint8Array, scope: CrlScope, issuer: Uint8Array): CrlScope {
  const what = 'issuingDistributionPoint';
  const element = readDer(value, what);
  const fields = fieldsOf(element, 0x30, what);
  const name = fields.optional(0xa0);
  const isSet = (tag: number): boolean => (fields.optional(tag)?.contents[0] ?? 0) !== 0;
  const endEntitiesOnly = isSet(0x81);
  const authoritiesOnly = isSet(0x82);
  const someReasonsOnly = fields.optional(0x83) !== undefined;
  const isIndirect = isSet(0x84);
  const attributesOnly = isSet(0x85);
  fields.end();
  let { problem, partial } = scope;
  // RFC 5280, section 5.2.5, forbids an empty extension.
  if (element.contents.length === 0) problem = 'its issuingDistributionPoint is empty';
  if (someReasonsOnly) partial = 'it contains revocations for some reasons only';
  if (isIndirect) partial = "it also lists other issuers' certificates (an indirect CRL)";
  if (attributesOnly || (endEntitiesOnly && authoritiesOnly)) problem = 'it covers no public key certificates';
  const covers = endEntitiesOnly ? 'end-entities' : authoritiesOnly ? 'authorities' : 'all';
  return { ...scope, problem, partial, isIndirect, covers, points: name && pointNames(name, issuer, what) };
}

const BEGIN = '-----BEGIN X509 CRL-----';
const END = '-----END X509 CRL-----';
const SEQUENCE = 0x30;

/** A file with the lists of all public authorities contains a few hundred lists. */
const MAX_CRLS = 1000;

export function readCrls(bytes: Uint8Array): readonly Crl[] | string {
  const found: Crl[] = [];
  try {
    for (const der of bytes[0] === SEQUENCE ? [bytes] : derInPem(bytes)) {
      if (found.length === MAX_CRLS) return `it contains more than ${MAX_CRLS} CRLs`;
      found.push(parseCrl(der));
    }
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown.message;
    throw thrown;
  }
  return found.length === 0 ? 'it contains no CRL' : found;
}

/** A regular expression would be too slow for a CRL of 30 MB. */
function* derInPem(bytes: Uint8Array): Generator<Uint8Array> {
  const pem = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let position = 0; ; ) {
    const start = pem.indexOf(BEGIN, position);
    const end = start < 0 ? -1 : pem.indexOf(END, start);
    if (end < 0) return;
    yield Buffer.from(pem.toString('latin1', start + BEGIN.length, end), 'base64');
    position = end + END.length;
  }
}

export interface CrlEntry {
  readonly revokedAt: Date;
  readonly reason: number | undefined;
}

/** Critical extensions of an entry that do not affect whether its certificate is revoked. */
const KNOWN_CRITICAL: ReadonlySet<string> = new Set([REASON_CODE, INVALIDITY_DATE, HOLD_INSTRUCTION]);
const TRUE = Buffer.of(0x01, 0x01, 0xff);

/**
 * Does not copy entries, because a list can have a million. `serialNumber` includes its tag and length. If any entry
 * has an unknown critical extension, an unlisted certificate may still be revoked.
 */
export function findInCrl(
  crl: Crl,
  { serialNumber, issuerKey }: Readonly<{ serialNumber: Uint8Array; issuerKey: string }>,
): { readonly entries: readonly CrlEntry[]; readonly unknownCritical: string | undefined } {
  const { isIndirect } = crl.scope;
  const wanted = Buffer.from(serialNumber.buffer, serialNumber.byteOffset, serialNumber.byteLength);
  const all = Buffer.from(crl.entries.buffer, crl.entries.byteOffset, crl.entries.byteLength);
  const entries: CrlEntry[] = [];
  let unknownCritical: string | undefined;
  let currentIssuer = crl.issuerKey;
  let critical = nextAt(all, 0);
  for (let position = 0; position < all.length; ) {
    const first = all[position + 1] ?? 0;
    // The length of an entry nearly always takes one octet.
    const header = first < 0x80 ? 2 : 2 + (first & 0x7f);
    const length = first < 0x80 ? first : lengthAt(all, position + 2, header - 2);
    const end = position + header + length;
    if (all[position] !== 0x30 || header > 6 || end > all.length) {
      // The signature of the list also covers the entries before the damaged entry.
      if (entries.length > 0) return { entries, unknownCritical };
      expectTag(readDer(all.subarray(position), 'CRL entry'), 0x30, 'CRL entry');
    }
    if (critical < end) {
      const found = criticalOf(all.subarray(position, end), isIndirect);
      unknownCritical ??= found.unknown;
      currentIssuer = found.certificateIssuer ?? currentIssuer;
      critical = nextAt(all, end);
    }
    const serial = position + header;
    // The comparison includes the tag and the length, so that a prefix of a longer serial number does not match.
    const isSameSerial = all.compare(wanted, 0, wanted.length, serial, Math.min(serial + wanted.length, end)) === 0;
    if (isSameSerial && (!isIndirect || currentIssuer === issuerKey))
      entries.push(readEntry(all.subarray(position, end)));
    position = end;
  }
  return { entries, unknownCritical };
}

function nextAt(all: Buffer, from: number): number {
  const at = all.indexOf(TRUE, from);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

function lengthAt(bytes: Uint8Array, position: number, octets: number): number {
  let length = 0;
  for (let index = 0; index < octets && index < 4; index += 1) length = length * 256 + (bytes[position + index] ?? 0);
  return length;
}

function readEntry(der: Uint8Array): CrlEntry {
  const what = 'CRL entry';
  const fields = fieldsOf(readDer(der, what), 0x30, what);
  fields.next(0x02, 'serial number');
  const revokedAt = readTime(fields.any('revocation date'), what);
  // An entry revokes the certificate even if its extensions are damaged.
  const values = orUndefined(() => extensionsOf(der).map(({ type, value }) => [type, value] as const));
  const reason = new Map(values).get(REASON_CODE);
  return {
    revokedAt,
    reason: reason && orUndefined(() => expectTag(readDer(reason, what), 0x0a, what).contents[0]),
  };
}

function criticalOf(entry: Uint8Array, isIndirect: boolean) {
  const extensions = orUndefined(() => extensionsOf(entry));
  if (extensions === undefined) return { unknown: 'that is damaged', certificateIssuer: undefined };
  const issuer = isIndirect ? extensions.find(({ type }) => type === CERTIFICATE_ISSUER)?.value : undefined;
  const certificateIssuer = issuer && orUndefined(() => directoryNameIn(issuer));
  const isKnown = (type: string): boolean =>
    KNOWN_CRITICAL.has(type) || (type === CERTIFICATE_ISSUER && certificateIssuer !== undefined);
  const unknown = extensions.find(({ type, isCritical }) => isCritical && !isKnown(type))?.type;
  // An unreadable name counts as another issuer.
  return { unknown, certificateIssuer: issuer === undefined ? undefined : (certificateIssuer ?? '') };
}

function extensionsOf(der: Uint8Array): readonly Extension[] {
  const what = 'CRL entry';
  const fields = fieldsOf(readDer(der, what), 0x30, what);
  fields.next(0x02, 'serial number');
  fields.any('revocation date');
  const list = fields.optional(0x30);
  fields.end();
  return readExtensions(list, what);
}

function directoryNameIn(generalNames: Uint8Array): string | undefined {
  const what = 'certificateIssuer';
  const name = parts(readDer(generalNames, what), what).find(({ tag }) => tag === GENERAL_NAME.directoryName);
  return name && readName(name.contents).key;
}
