/**
 * The entries of a CRL (RFC 5280, 5.3). There may be a million: they are searched in place, and an object is made only for
 * the entries of the certificate that is looked for.
 */

import { CERTIFICATE_ISSUER, HOLD_INSTRUCTION, INVALIDITY_DATE, REASON_CODE } from '../../asn1/object-identifiers.ts';
import { expectTag, fieldsOf, parts, readDer } from '../../asn1/read.ts';
import { readTime } from '../../asn1/times.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { type Extension, readExtensions } from '../certificate-fields.ts';
import { GENERAL_NAME, readName } from '../names.ts';
import type { Crl } from './crl.ts';

export interface CrlEntry {
  readonly revokedAt: Date;
  /** CRLReason; undefined: not said, or not readable. */
  readonly reason: number | undefined;
}

export interface FoundEntries {
  /** Those of the certificate, in order: one, unless the list is odd. */
  readonly entries: readonly CrlEntry[];
  /** A critical extension of any entry that is not known here: then what the list leaves out says nothing. */
  readonly unknownCritical: string | undefined;
}

type EntriesOfCrl = Pick<Crl, 'entries' | 'issuerKey'> & { readonly scope: Pick<Crl['scope'], 'isIndirect'> };

/** holdInstructionCode says what to do with a hold; invalidityDate says since when a key may be in wrong hands. */
const KNOWN_CRITICAL: ReadonlySet<string> = new Set([REASON_CODE, INVALIDITY_DATE, HOLD_INSTRUCTION]);
/** The BOOLEAN that makes an extension critical. */
const TRUE = Buffer.of(0x01, 0x01, 0xff);

/** Searches the list for a certificate by the whole INTEGER of its number and its `issuerKey`. Throws `asn1-malformed`. */
export function findInCrl(
  crl: EntriesOfCrl,
  { serialNumber, issuerKey }: Readonly<{ serialNumber: Uint8Array; issuerKey: string }>,
): FoundEntries {
  const { isIndirect } = crl.scope;
  const wanted = Buffer.from(serialNumber.buffer, serialNumber.byteOffset, serialNumber.byteLength);
  const all = Buffer.from(crl.entries.buffer, crl.entries.byteOffset, crl.entries.byteLength);
  const entries: CrlEntry[] = [];
  let unknownCritical: string | undefined;
  let currentIssuer = crl.issuerKey;
  let critical = nextAt(all, 0);
  for (let position = 0; position < all.length; ) {
    const first = all[position + 1] ?? 0;
    // Entries are short: their length nearly always has one octet, sometimes two or three.
    const header = first < 0x80 ? 2 : 2 + (first & 0x7f);
    const length = first < 0x80 ? first : lengthAt(all, position + 2, header - 2);
    const end = position + header + length;
    if (all[position] !== 0x30 || header > 6 || end > all.length) {
      // What was found before this place was signed too.
      if (entries.length > 0) return { entries, unknownCritical };
      // Reading it says what is wrong with it.
      expectTag(readDer(all.subarray(position), 'CRL entry'), 0x30, 'CRL entry');
    }
    if (critical < end) {
      const found = criticalOf(all.subarray(position, end), isIndirect);
      unknownCritical ??= found.unknown;
      currentIssuer = found.certificateIssuer ?? currentIssuer;
      critical = nextAt(all, end);
    }
    const serial = position + header;
    // The tag and the length of the INTEGER are compared with it, so that the start of a longer one does not match.
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
  // What is damaged in the extensions of an entry leaves it an entry: the certificate is revoked.
  const values = orUndefined(() => extensionsOf(der).map(({ type, value }) => [type, value] as const));
  const reason = new Map(values).get(REASON_CODE);
  return {
    revokedAt,
    reason: reason && orUndefined(() => expectTag(readDer(reason, what), 0x0a, what).contents[0]),
  };
}

/** `certificateIssuer`: comparable; undefined where the entry names none. */
function criticalOf(entry: Uint8Array, isIndirect: boolean) {
  const extensions = orUndefined(() => extensionsOf(entry));
  if (extensions === undefined) return { unknown: 'that is damaged', certificateIssuer: undefined };
  const issuer = isIndirect ? extensions.find(({ type }) => type === CERTIFICATE_ISSUER)?.value : undefined;
  const certificateIssuer = issuer && orUndefined(() => directoryNameIn(issuer));
  const isKnown = (type: string): boolean =>
    KNOWN_CRITICAL.has(type) || (type === CERTIFICATE_ISSUER && certificateIssuer !== undefined);
  const unknown = extensions.find(({ type, isCritical }) => isCritical && !isKnown(type))?.type;
  // An issuer that cannot be read is any issuer but this one.
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
