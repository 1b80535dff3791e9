/** Timestamps of Authenticode signatures, both kinds: read where they stand, and replaced by new ones. */

import { describe, expect, it } from 'vitest';
import { parts } from '../../../src/asn1/read.ts';
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
import { createTimestampDesk } from '../../support/services/timestamp-desk.ts';
import { makeTimestampPki } from '../../support/services/timestamp-pki.ts';
import { folderForAll } from '../../support/set-up.ts';
import { chainOf, requestFor, signAuthenticode } from '../../support/signed-files/authenticode-signing.ts';
import { makePki, testKey } from '../../support/signed-files/pki.ts';
import { isValid } from './is-valid.ts';
import { attribute, peculiarSignature } from './peculiar-signature.ts';

const RFC3161 = '1.3.6.1.4.1.311.3.3.1';
const CMS_TOKEN = '1.2.840.113549.1.9.16.2.14';
const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';
const NESTED = '1.3.6.1.4.1.311.2.4.1';
const pki = makePki();
const leaf = pki.leaf();
const other = pki.leaf({ commonName: 'Other Publisher', key: testKey('rsa-2048', 'root') });
const outer = signAuthenticode(requestFor(await chainOf(leaf, pki.intermediate)), leaf);
const nested = signAuthenticode(requestFor(await chainOf(other, pki.intermediate), { algorithm: 'SHA512' }), other);
const folder = folderForAll();

const signatureValueOf = (cms: Uint8Array) => readAuthenticode(cms).signedData.signers[0].signature;
const stampSignature = (cms: Uint8Array, stamp: Uint8Array) => stampCms(AUTHENTICODE_PROFILE, cms, stamp);
const timestampsOf = ({ signedData }: AuthenticodeParts) =>
  readTimestampsOf(AUTHENTICODE_PROFILE, signedData, signedData.signers[0], timestampReader());
const readAll = (cms: Uint8Array) => timestampsOf(readAuthenticode(cms));
const kindsOf = (cms: Uint8Array) =>
  readAll(cms).map(({ kind, findings }) => [kind, ...findings.map(({ code }) => code)].join(' '));

const timestampPki = await makeTimestampPki(folder);
const desk = createTimestampDesk(timestampPki);
const token = await desk.stamp(signatureValueOf(outer));

describe('the timestamps of a signature', () => {
  it('are the RFC 3161 token under the attribute of Authenticode, not under that of CMS', () => {
    const genTime = readAll(stampSignature(outer, token))[0]?.time;
    expect(Math.abs((genTime?.getTime() ?? 0) - Date.now())).toBeLessThan(600_000);
    const kindsUnder = (type: string) =>
      kindsOf(peculiarSignature(leaf, { unsignedAttributes: [attribute(type, token)] }));
    expect(kindsUnder(RFC3161)).toEqual(['rfc3161 timestamp-other-signature']);
    expect(kindsUnder(CMS_TOKEN)).toEqual([]);
    expect(readAll(outer)).toEqual([]);
    expect(kindsOf(stampSignature(outer, token))).toEqual(['rfc3161']);
  });

  it('are the countersignature of old, whose certificate the signature carries', async () => {
    const pem = timestampPki.certificatePemOf('tsa').replace(/-----[^-]+-----/g, '');
    const certificates = [leaf.der, Buffer.from(pem, 'base64')];
    const counterSignature = await desk.counterSign(signatureValueOf(peculiarSignature(leaf, { certificates })));
    const unsignedAttributes = [attribute(COUNTER_SIGNATURE, counterSignature)];
    const [timestamp] = readAll(peculiarSignature(leaf, { certificates, unsignedAttributes }));
    const time = expect.any(Date);
    expect(timestamp).toMatchObject({ kind: 'authenticode', time, algorithm: 'sha256', findings: [] });
    expect(timestamp?.certificates).toHaveLength(2);
  });

  it('are all existing ones, in order, sound or not', () => {
    const unsignedAttributes = [
      attribute(COUNTER_SIGNATURE, Buffer.of(0x30, 0)),
      attribute(RFC3161, token, Buffer.of(0x30, 0)),
      attribute(CMS_TOKEN, Buffer.of(0x30, 0)),
    ];
    expect(kindsOf(peculiarSignature(leaf, { unsignedAttributes }))).toEqual([
      'authenticode timestamp-unreadable',
      'rfc3161 timestamp-other-signature',
      'rfc3161 timestamp-unreadable',
    ]);
  });
});

it('a new timestamp replaces existing ones, and leaves the rest unchanged', () => {
  const unsignedAttributes = [
    attribute('1.2.3.4', Buffer.of(0x30, 0)),
    attribute(COUNTER_SIGNATURE, Buffer.of(0x30, 0)),
    attribute(RFC3161, Buffer.of(0x30, 0), token),
    attribute(CMS_TOKEN, token),
    attribute(NESTED, nested),
  ];
  const before = peculiarSignature(leaf, { unsignedAttributes });
  const after = readAuthenticode(stampSignature(before, token));
  expect(timestampsOf(after).map(({ bytes }) => Buffer.from(bytes))).toEqual([token]);
  const [{ unsignedAttributes: left }] = after.signedData.signers;
  expect(left.map(({ type }) => type).sort()).toEqual(['1.2.3.4', NESTED, RFC3161].sort());
  expect(after.signedData.certificates).toEqual(readAuthenticode(before).signedData.certificates);
  expect(isValid(after)).toBe(true);
});

describe('nested signatures are exchanged', () => {
  it('for others in their places, so that all is in DER order as before', async () => {
    const second = nestSignature(nestSignature(stampSignature(outer, token), nested), outer);
    const inner = findAuthenticode(second).nested.map(({ cms }) => cms);
    expect(inner).toHaveLength(2);
    // The first, which is the longer one then and has to go behind the other.
    const [smaller = nested] = inner;
    const stampedInner = await desk.stamp(signatureValueOf(smaller));
    const exchanged = exchangeNested(second, (cms, index) => {
      expect(Buffer.compare(cms, inner[index] ?? Buffer.of())).toBe(0);
      return index === 0 ? stampSignature(cms, stampedInner) : cms;
    });
    const read = readAuthenticode(exchanged);
    expect(read.nested.map(isValid)).toEqual([true, true]);
    expect(read.nested.flatMap((each) => timestampsOf(each).map(({ findings }) => findings))).toEqual([[]]);
    expect(timestampsOf(read)).toHaveLength(1);
    expect(isInDer(exchanged)).toBe(true);
  });

  it('and keep the order of programs that had none', () => {
    const [first = nested, last = outer] = [outer, nested].sort(Buffer.compare).toReversed();
    const cms = peculiarSignature(leaf, {
      unsignedAttributes: [attribute(NESTED, first, last), attribute('1.2', Buffer.of(0x05, 0))],
    });
    expect(isInDer(cms)).toBe(false);
    expect(Buffer.from(exchangeNested(cms, (same) => same))).toEqual(Buffer.from(cms));
  });
});

/** Whether unsigned attributes, and their values, ascend. */
function isInDer(cms: Uint8Array): boolean {
  const { unsignedAttributes } = readSignerInfoFields(readSignedDataFields(cms).signers[0]);
  if (unsignedAttributes === undefined) throw new Error('there are none');
  const attributes = parts(unsignedAttributes, 'unsigned attributes');
  const sets = [attributes, ...attributes.map((one) => parts(parts(one, 'attribute')[1] ?? one, 'values'))];
  return sets.every((set) =>
    set.every((one, index) => index === 0 || Buffer.compare(set[index - 1]?.bytes ?? one.bytes, one.bytes) <= 0),
  );
}
