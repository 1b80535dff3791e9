import { createHash } from 'node:crypto';
import type { BaseBlock } from 'asn1js';
import { describe, expect, test } from 'vitest';
import { encode, nullValue, objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { checkQuery, POLICY, type QueryCheck } from '../../src/tsa/messages.ts';

const SHA256 = '2.16.840.1.101.3.4.2.1';
const version = smallInteger(1);
const digest = createHash('sha256').update('content').digest();
const identifier = sequence(objectIdentifier(SHA256), nullValue());
const imprint = sequence(identifier, octetString(digest));
const policy = objectIdentifier(POLICY);
const nonce = encode(0x02, Buffer.from('00f0e1d2c3b4a59687', 'hex'));
const certReq = Buffer.from('0101ff', 'hex');

/** The reason of a refusal, or what was accepted, with imprint and nonce as a token would hold them. */
function outcome(check: QueryCheck) {
  if (!check.accepted) return check.failure;
  const { imprint, nonce } = check.query;
  return { ...check.query, imprint: bytesOf(imprint.toSchema()), nonce: nonce && bytesOf(nonce) };
}
const bytesOf = (block: BaseBlock) => new Uint8Array(block.toBER());
const examine = (...fields: readonly Uint8Array[]) => outcome(checkQuery(sequence(...fields)));

describe('a request', () => {
  test('is taken apart, with imprint and nonce byte for byte', () => {
    expect(examine(version, imprint, policy, nonce, certReq)).toEqual({
      algorithm: 'SHA256',
      imprint: Uint8Array.from(imprint),
      nonce: Uint8Array.from(nonce),
      certReq: true,
    });
  });

  test('needs no more than version and imprint', () => {
    expect(examine(version, imprint)).toEqual({
      algorithm: 'SHA256',
      imprint: Uint8Array.from(imprint),
      nonce: undefined,
      certReq: false,
    });
  });

  test('may say that it wants no certificates, and name its algorithm without parameters', () => {
    const bare = sequence(sequence(objectIdentifier(SHA256)), octetString(digest));
    expect(examine(version, bare, Buffer.from('010100', 'hex'))).toMatchObject({ certReq: false });
  });

  test.each(['00', '01', '80', '0080', 'ff7f', '7f'.repeat(200)])('may have the nonce %s', (hex) => {
    const value = encode(0x02, Buffer.from(hex, 'hex'));
    expect(examine(version, imprint, value)).toMatchObject({ nonce: Uint8Array.from(value) });
  });
});

test.each([
  ['2.16.840.1.101.3.4.2.2', 48, 'SHA384'],
  ['2.16.840.1.101.3.4.2.3', 64, 'SHA512'],
])('takes an imprint of %s', (oid, length, algorithm) => {
  const other = sequence(sequence(objectIdentifier(oid), nullValue()), octetString(new Uint8Array(length)));
  expect(examine(version, other)).toMatchObject({ algorithm });
});

describe('rejects with badAlg', () => {
  test.each([
    ['SHA-1', '1.3.14.3.2.26', 20],
    ['MD5', '1.2.840.113549.2.5', 16],
    ['SHA-224', '2.16.840.1.101.3.4.2.4', 28],
    ['SHA3-256', '2.16.840.1.101.3.4.2.8', 32],
  ])('an imprint of %s', (_name, oid, length) => {
    const other = sequence(sequence(objectIdentifier(oid), nullValue()), octetString(new Uint8Array(length)));
    expect(examine(version, other)).toBe('badAlg');
  });

  test.each([
    ['parameters', sequence()],
    ['a NULL that holds something', Buffer.from('050100', 'hex')],
  ])('an algorithm with %s', (_name, parameters) => {
    const other = sequence(sequence(objectIdentifier(SHA256), parameters), octetString(digest));
    expect(examine(version, other)).toBe('badAlg');
  });
});

test.each([0, 2])('rejects version %i', (number) => {
  expect(examine(smallInteger(number), imprint)).toBe('badRequest');
});

test.each([0, 31, 33])('rejects a digest of %i bytes', (length) => {
  expect(examine(version, sequence(identifier, octetString(new Uint8Array(length))))).toBe('badDataFormat');
});

test('rejects every policy but its own', () => {
  expect(examine(version, imprint, objectIdentifier('1.2.3.4.1'))).toBe('unacceptedPolicy');
});

test.each([true, false])('rejects an extension that is critical: %s', (critical) => {
  const parts = [objectIdentifier('1.2.3.4.5'), ...(critical ? [certReq] : []), octetString(new Uint8Array(2))];
  const extensions = encode(0xa0, sequence(...parts));
  expect(examine(version, imprint, extensions)).toBe('unacceptedExtension');
});

/** Each is no TimeStampReq in DER. */
const MALFORMED: Readonly<Record<string, Uint8Array>> = {
  'an empty body': Buffer.alloc(0),
  'a web page': Buffer.from('<!doctype html><title>Sign in</title>'),
  'another type': octetString(digest),
  'an empty SEQUENCE': sequence(),
  'no imprint': sequence(version, nonce),
  'no version': sequence(imprint),
  'something behind it': Buffer.concat([sequence(version, imprint), Buffer.alloc(1)]),
  'a field too many': sequence(version, imprint, certReq, certReq),
  'fields in another order': sequence(version, imprint, certReq, nonce),
  'an unknown field': sequence(version, imprint, encode(0xa1, Buffer.alloc(0))),
  'a SET for the imprint': sequence(version, encode(0x31, identifier, octetString(digest))),
  'an imprint without a digest': sequence(version, sequence(identifier)),
  'an imprint with a third part': sequence(version, sequence(identifier, octetString(digest), nullValue())),
  'an algorithm of three parts': sequence(
    version,
    sequence(sequence(objectIdentifier(SHA256), nullValue(), nullValue()), octetString(digest)),
  ),
  'a digest in pieces': sequence(version, sequence(identifier, encode(0x24, octetString(digest)))),
  'a BOOLEAN that is neither': sequence(version, imprint, Buffer.from('010101', 'hex')),
  'a BOOLEAN without a value': sequence(version, imprint, Buffer.from('0100', 'hex')),
  'an empty nonce': sequence(version, imprint, encode(0x02, Buffer.alloc(0))),
  'a nonce with a zero too many': sequence(version, imprint, encode(0x02, Buffer.from('0001', 'hex'))),
  'a negative nonce with a byte too many': sequence(version, imprint, encode(0x02, Buffer.from('ff80', 'hex'))),
  'a length in more bytes than it needs': Buffer.concat([
    Buffer.from([0x30, 0x81, version.length + imprint.length]),
    version,
    imprint,
  ]),
  'a length with a zero before it': Buffer.concat([
    Buffer.from([0x30, 0x82, 0, version.length + imprint.length]),
    version,
    imprint,
  ]),
  'an indefinite length': Buffer.concat([Buffer.from([0x30, 0x80]), version, imprint, Buffer.alloc(2)]),
  'a length beyond the end': Buffer.from('3082ffff020101', 'hex'),
  'nesting without end': Buffer.from('3080'.repeat(2000), 'hex'),
  'a long tag': Buffer.from('3f813001020101', 'hex'),
  'a digest whose length has more bytes than it needs': sequence(
    version,
    sequence(identifier, Buffer.concat([Buffer.from([4, 0x81, digest.length]), digest])),
  ),
  'a BOOLEAN of three bytes': sequence(version, imprint, Buffer.from('0103000000', 'hex')),
  'an invalid time': sequence(version, imprint, Buffer.from('180100', 'hex')),
  'an empty extension': sequence(version, imprint, encode(0xa0, sequence())),
  'definite nesting beyond the limit of asn1js': Array.from({ length: 1000 }).reduce<Uint8Array>(
    (inner) => encode(0x30, inner),
    nullValue(),
  ),
};

test.each(Object.entries(MALFORMED))('rejects %s', (_name, body) => {
  expect(outcome(checkQuery(body))).toBe('badDataFormat');
});

test('every cut and every changed byte has an outcome, and the imprint stays the one that came', () => {
  const good = Buffer.from(sequence(version, imprint, policy, nonce, certReq));
  for (let length = 0; length < good.length; length++) {
    expect(outcome(checkQuery(good.subarray(0, length)))).toBe('badDataFormat');
  }
  for (let position = 0; position < good.length; position++) {
    for (const change of [0x01, 0x20, 0x80, 0xff]) {
      const body = Buffer.from(good);
      body[position] = (body[position] ?? 0) ^ change;
      const check = checkQuery(body);
      if (check.accepted) expect(body.includes(Buffer.from(check.query.imprint.toSchema().toBER()))).toBe(true);
    }
  }
});
