/** Nested signatures and timestamps in unsigned attributes: read, added, replaced and exchanged, and all the rest stays. */

import { describe, expect, it } from 'vitest';
import { parts } from '../../../src/asn1/read.ts';
import { octetString } from '../../../src/asn1/write.ts';
import { exchangeNested, nestSignature } from '../../../src/authenticode/authenticode-file.ts';
import { AUTHENTICODE_PROFILE } from '../../../src/authenticode/profile.ts';
import {
  type AuthenticodeParts,
  findAuthenticode,
  readAuthenticode,
} from '../../../src/authenticode/read-authenticode.ts';
import { readSignedDataFields, readSignerInfoFields } from '../../../src/cms/signed-data-fields.ts';
import { timestampsOf as readTimestampsOf, stampCms } from '../../../src/format/cms.ts';
import { timestampReader } from '../../../src/timestamp/read-timestamps.ts';
import { attribute } from '../../support/signed-files/hostile-cms.ts';
import { makePki, testKey } from '../../support/signed-files/pki.ts';
import { isValid, peculiarSignature } from './peculiar-signature.ts';

const RFC3161 = '1.3.6.1.4.1.311.3.3.1';
const CMS_TOKEN = '1.2.840.113549.1.9.16.2.14';
const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';
const NESTED = '1.3.6.1.4.1.311.2.4.1';
const EMPTY = Buffer.of(0x30, 0);
/** In the place of a token. */
const tokenOf = (length: number) => Buffer.from(octetString(Buffer.alloc(length, 7)));
const TOKEN = tokenOf(300);
const pki = makePki();
const leaf = pki.leaf();
const other = pki.leaf({ commonName: 'Other Publisher', key: testKey('rsa-2048', 'root') });
const outer = peculiarSignature(leaf);
const nested = peculiarSignature(other);
const stampedWith = (token: Uint8Array) => peculiarSignature(leaf, { unsignedAttributes: [attribute(RFC3161, token)] });
const stamped = stampedWith(TOKEN);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const stampSignature = (cms: Uint8Array) => stampCms(AUTHENTICODE_PROFILE, cms, TOKEN);
const timestampsOf = ({ signedData }: AuthenticodeParts) =>
  readTimestampsOf(AUTHENTICODE_PROFILE, signedData, signedData.signers[0], timestampReader());

// The attribute with one nested signature is shorter than the long token, the one with two is longer.
it.each([TOKEN, tokenOf(outer.length + 700)])(
  'a nested signature joins others next to a timestamp, in DER order (%#)',
  (token) => {
    const first = stampedWith(token);
    const made = [nested, outer, stamped].reduce((before, next) => {
      const after = nestSignature(before, next);
      expect(isInDer(after)).toBe(true);
      return after;
    }, first);
    expect(hex([stamped, outer, nested].reduce(nestSignature, first))).toBe(hex(made));
    const read = readAuthenticode(made);
    const [{ unsignedAttributes }] = read.signedData.signers;
    expect(unsignedAttributes.map(({ values }) => values.length).sort()).toEqual([1, 3]);
    expect(timestampsOf(read).map(({ bytes }) => Buffer.from(bytes))).toEqual([token]);
    const inside = read.nested.map(({ signedData }) => hex(signedData.bytes));
    expect(inside.sort()).toEqual([nested, outer, stamped].map(hex).sort());
    expect([read, ...read.nested].map(isValid)).toEqual([true, true, true, true]);
  },
);

it('replaces existing timestamps by a new one, and leaves the rest unchanged', () => {
  const unsignedAttributes = [
    attribute('1.2.3.4', EMPTY),
    attribute(COUNTER_SIGNATURE, EMPTY),
    attribute(RFC3161, TOKEN, EMPTY),
    attribute(CMS_TOKEN, TOKEN),
    attribute(NESTED, nested),
  ];
  const before = peculiarSignature(leaf, { unsignedAttributes });
  const read = timestampsOf(readAuthenticode(before)).map(({ kind, bytes: { length } }) => `${kind} ${length}`);
  expect(read).toEqual(['authenticode 2', `rfc3161 ${TOKEN.length}`, 'rfc3161 2']);
  const after = readAuthenticode(stampSignature(before));
  expect(timestampsOf(after).map(({ bytes }) => Buffer.from(bytes))).toEqual([TOKEN]);
  const [{ unsignedAttributes: left }] = after.signedData.signers;
  expect(left.map(({ type }) => type).sort()).toEqual(['1.2.3.4', NESTED, RFC3161].sort());
  expect(after.signedData.certificates).toEqual(readAuthenticode(before).signedData.certificates);
  expect(isValid(after)).toBe(true);
});

describe('exchanging nested signatures', () => {
  it('leaves all in DER order as before', () => {
    const second = nestSignature(nestSignature(stampSignature(outer), nested), outer);
    const inner = findAuthenticode(second).nested.map(({ cms }) => cms);
    // The first, which is the longer one then and has to go behind the other.
    const exchanged = exchangeNested(second, (cms, index) => {
      expect(Buffer.compare(cms, inner[index] ?? Buffer.of())).toBe(0);
      return index === 0 ? stampSignature(cms) : cms;
    });
    const read = readAuthenticode(exchanged);
    expect([read, ...read.nested].map(isValid)).toEqual([true, true, true]);
    expect([read, ...read.nested].map((each) => timestampsOf(each).length)).toEqual([1, 0, 1]);
    expect(isInDer(exchanged)).toBe(true);
  });

  it('keeps the order of programs that had none', () => {
    const [first = nested, last = outer] = [outer, nested].sort(Buffer.compare).toReversed();
    const cms = peculiarSignature(leaf, {
      unsignedAttributes: [attribute(NESTED, first, last), attribute('1.2', Buffer.of(0x05, 0))],
    });
    expect(isInDer(cms)).toBe(false);
    expect(hex(exchangeNested(cms, (same) => same))).toBe(hex(cms));
  });
});

/** Whether unsigned attributes, and their values, ascend. */
function isInDer(cms: Uint8Array): boolean {
  const { unsignedAttributes = expect.unreachable() } = readSignerInfoFields(readSignedDataFields(cms).signers[0]);
  const attributes = parts(unsignedAttributes, 'unsigned attributes');
  const sets = [attributes, ...attributes.map((one) => parts(parts(one, 'attribute')[1] ?? one, 'values'))];
  return sets.every((set) =>
    set.every((one, index) => index === 0 || Buffer.compare(set[index - 1]?.bytes ?? one.bytes, one.bytes) <= 0),
  );
}
