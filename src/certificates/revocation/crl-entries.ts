/**
 * The entries of a CRL (RFC 5280, 5.3). There can be a million, so they are searched in place, and only entries for the
 * requested certificate become objects.
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
  /** CRLReason; undefined if it is missing or unreadable. */
  readonly reason: number | undefined;
}

export interface FoundEntries {
  /** Entries for the certificate in order. Regular lists have at most one. */
  readonly entries: readonly CrlEntry[];
  /** Unknown critical extension of any entry. The absence of a certificate then proves nothing. */
  readonly unknownCritical: string | undefined;
}

type EntriesOfCrl = Pick<Crl, 'entries' | 'issuerKey'> & { readonly scope: Pick<Crl['scope'], 'isIndirect'> };

/** holdInstructionCode says how to treat a hold; invalidityDate says since when the key may be compromised. */
const KNOWN_CRITICAL: ReadonlySet<string> = new Set([REASON_CODE, INVALIDITY_DATE, HOLD_INSTRUCTION]);
const TRUE = Buffer.of(0x01, 0x01, 0xff);

/** Finds a certificate by serial number (the whole INTEGER) and `issuerKey`. Throws `asn1-malformed`. */
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
    // Entries are short: the length nearly always has one octet, sometimes two or three.
    const header = first < 0x80 ? 2 : 2 + (first & 0x7f);
    const length = first < 0x80 ? first : lengthAt(all, position + 2, header - 2);
    const end = position + header + length;
    if (all[position] !== 0x30 || header > 6 || end > all.length) {
      // The entries found before this offset are also signed.
      if (entries.length > 0) return { entries, unknownCritical };
      // Reading it throws an error that describes the problem.
      expectTag(readDer(all.subarray(position), 'CRL entry'), 0x30, 'CRL entry');
    }
    if (critical < end) {
      const found = criticalOf(all.subarray(position, end), isIndirect);
      unknownCritical ??= found.unknown;
      currentIssuer = found.certificateIssuer ?? currentIssuer;
      critical = nextAt(all, end);
    }
    const serial = position + header;
    // Compares tag, length and value, so that a prefix of a longer serial number does not match.
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
  // An entry with damaged extensions still revokes the certificate.
  const values = orUndefined(() => extensionsOf(der).map(({ type, value }) => [type, value] as const));
  const reason = new Map(values).get(REASON_CODE);
  return {
    revokedAt,
    reason: reason && orUndefined(() => expectTag(readDer(reason, what), 0x0a, what).contents[0]),
  };
}

/** `certificateIssuer` is comparable; undefined if the entry does not name one. */
function criticalOf(entry: Uint8Array, isIndirect: boolean) {
  const extensions = orUndefined(() => extensionsOf(entry));
  if (extensions === undefined) return { unknown: 'that is damaged', certificateIssuer: undefined };
  const issuer = isIndirect ? extensions.find(({ type }) => type === CERTIFICATE_ISSUER)?.value : undefined;
  const certificateIssuer = issuer && orUndefined(() => directoryNameIn(issuer));
  const isKnown = (type: string): boolean =>
    KNOWN_CRITICAL.has(type) || (type === CERTIFICATE_ISSUER && certificateIssuer !== undefined);
  const unknown = extensions.find(({ type, isCritical }) => isCritical && !isKnown(type))?.type;
  // An unreadable issuer counts as a different one.
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
