/** Our ASN.1 against asn1js: what is written is read by them, what is malformed is rejected. */

import * as asn1js from 'asn1js';
import { describe, expect, it } from 'vitest';
import {
  fieldsOf,
  objectIdentifierOf,
  octetsOf,
  onlyPart,
  parts,
  readDer,
  readElement,
} from '../../../src/asn1/read.ts';
import { bitString, objectIdentifier, octetString, sequence, setOf, utf16be } from '../../../src/asn1/write.ts';

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');
const OIDS = [
  ...['1.2.840.113549.1.7.2', '2.5.4.3', '1.3.6.1.4.1.311.2.1.4', '2.16.840.1.101.3.4.2.1', '0.9.2342'],
  ...['2.999.3', '2.39.0', '2.40.127'],
];
const MALFORMED = expect.objectContaining({ code: 'asn1-malformed' });

describe('writing', () => {
  it.each([0, 127, 128, 255, 256, 65_535, 65_536])('gives %i bytes the shortest length', (length) => {
    const contents = Buffer.alloc(length, 1);
    const written = octetString(contents);
    const expected = new asn1js.OctetString({ valueHex: contents }).toBER();
    expect(Buffer.compare(written, Buffer.from(expected))).toBe(0);
    expect(readDer(written, 'it').contents).toHaveLength(length);
  });

  it('gives 16 MiB a length of four bytes', () => {
    const written = octetString(Buffer.alloc(2 ** 24));
    expect(Buffer.from(written.subarray(0, 6)).toString('hex')).toBe('048401000000');
    expect(readDer(written, 'it').contents).toHaveLength(2 ** 24);
  });

  it.each(OIDS)('encodes the object identifier %s as asn1js does, and reads it back', (oid) => {
    const written = objectIdentifier(oid);
    expect(Buffer.from(written)).toEqual(Buffer.from(new asn1js.ObjectIdentifier({ value: oid }).toBER()));
    expect(objectIdentifierOf(readElement(written, 'it'), 'it')).toBe(oid);
  });

  it('sorts a SET OF by its encodings', () => {
    const members = [octetString(hex('02')), octetString(hex('01ff')), octetString(hex('01')), bitString(hex('00'))];
    expect(Buffer.from(setOf(...members)).toString('hex')).toBe('310e03020000040101040102040201ff');
  });

  it('writes text as UTF-16BE, beyond the BMP as surrogates', () => {
    expect(Buffer.from(utf16be('aé€😀')).toString('hex')).toBe('006100e920acd83dde00');
  });
});

describe('reading', () => {
  it('takes BER: indefinite lengths inside one another, long lengths, strings in pieces', () => {
    const element = readElement(hex('3080 a080 2480 0401aa 0402bbcc 0000 0000 0000 ff'), 'it');
    expect(element.bytes).toHaveLength(19);
    const inner = onlyPart(onlyPart(element, 'it'), 'it');
    expect(Buffer.from(octetsOf(inner, 'it')).toString('hex')).toBe('aabbcc');
    expect(readElement(hex('30 84 00000003 020105'), 'it').contents).toHaveLength(3);
  });

  it('reports the position of the fault', () => {
    const nested = readElement(hex('3006 3004 0201 05 30'), 'outer');
    expect(() => parts(onlyPart(nested, 'inner'), 'deep')).toThrow(/\(at byte 7 of/);
  });

  it.each([
    ['nothing', ''],
    ['fewer bytes than announced', '3005 0201'],
    ['a length beyond reason', '3088 ffffffffffffffff'],
    ['an end of contents', '0000'],
    ['an end of contents with contents', '3080 0001 05 0000'],
    ['an end of contents of a long length', '3080 008100'],
    ['a long form tag', '3f8101 00'],
    ['an indefinite length without end', '3080 0201 05'],
    ['a primitive value with an indefinite length', '0480 0000'],
  ])('rejects %s', (_name, bytes) => {
    expect(() => readElement(hex(bytes), 'it')).toThrow(MALFORMED);
  });

  it.each([
    ['an empty object identifier', '0600'],
    ['an unfinished object identifier', '06022a86'],
    ['an object identifier with a needless octet', '06032a8003'],
    ['an object identifier that begins with one', '0602802a'],
    ['another type', '020105'],
  ])('rejects %s', (_name, bytes) => {
    expect(() => objectIdentifierOf(readElement(hex(bytes), 'it'), 'it')).toThrow(MALFORMED);
  });

  it.each([
    ['an indefinite length', '3080 020105 0000'],
    ['a long length where a short one does', '3081 03 020105'],
    ['a length with a zero before it', `3082 0080 ${'0500'.repeat(64)}`],
  ])('takes %s in BER, not in DER, neither outside nor within', (_name, text) => {
    const bytes = hex(text);
    expect(parts(readElement(bytes, 'it'), 'it')).not.toHaveLength(0);
    expect(() => readDer(bytes, 'it')).toThrow(MALFORMED);
    expect(() => parts(readDer(sequence(bytes), 'it'), 'it')).toThrow(MALFORMED);
  });

  it('takes no string in pieces in DER', () => {
    const pieces = hex('2406 0401aa 0401bb');
    expect(octetsOf(readElement(pieces, 'it'), 'it')).toHaveLength(2);
    expect(() => octetsOf(readDer(pieces, 'it'), 'it')).toThrow(MALFORMED);
  });

  const pair = readElement(hex('3006 020105 020106'), 'it');
  const empty = readElement(hex('3000'), 'it');

  it.each<[string, () => unknown]>([
    ['a missing part', () => fieldsOf(empty, 0x30, 'it').any('field')],
    ['an unexpected part', () => fieldsOf(pair, 0x30, 'it').next(0x04, 'field')],
    ['an additional part', () => fieldsOf(pair, 0x30, 'it').end()],
    ['two parts instead of one', () => onlyPart(pair, 'it')],
    ['no part', () => onlyPart(empty, 'it')],
    ['parts of a primitive', () => parts(readElement(hex('020105'), 'it'), 'it')],
  ])('rejects %s', (_, read) => {
    expect(read).toThrow(MALFORMED);
  });

  it('rejects an indefinite length round more than 100,000 parts', () => {
    const around = (count: number) => Buffer.concat([hex('3080'), Buffer.alloc(2 * count, hex('0500')), hex('0000')]);
    expect(readElement(around(100_000), 'it').contents).toHaveLength(200_000);
    expect(() => readElement(around(100_001), 'it')).toThrow(MALFORMED);
  });
});

it.each([
  ['2.25.340282366920938463463374607431768211455', `06146983${'ff'.repeat(17)}7f`],
  ['1.3.9007199254740993', '0609 2b 9080808080808001'],
])('an object identifier with an arc that no number holds, %s, is read exactly', (dotted, encoded) => {
  expect(objectIdentifierOf(readElement(hex(encoded), 'it'), 'it')).toBe(dotted);
});
