/** Nesting a signature in another one: what is signed stays, and so does what was nested or stamped before. */

import { describe, expect, it } from 'vitest';
import { SPC_NESTED_SIGNATURE, SPC_RFC3161_TIMESTAMP } from '../../../src/asn1/object-identifiers.ts';
import { parts, readElement } from '../../../src/asn1/read.ts';
import { contextConstructed, encode, objectIdentifier, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { nestSignature } from '../../../src/authenticode/authenticode-file.ts';
import { type AuthenticodeSignature, readAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { chainOf, requestFor, signAuthenticode } from '../../support/signed-files/authenticode-signing.ts';
import { makePki, testKey } from '../../support/signed-files/pki.ts';
import { isValid } from './is-valid.ts';

const pki = makePki();
const leaf = pki.leaf();
const other = pki.leaf({ commonName: 'Other Publisher', key: testKey('rsa-2048', 'root') });
const request = requestFor(await chainOf(leaf, pki.intermediate));
const outer = signAuthenticode(request, leaf);
const nested = signAuthenticode(requestFor(await chainOf(other, pki.intermediate), { algorithm: 'SHA512' }), other);
const TOKEN = sequence(objectIdentifier('1.2.3'), contextConstructed(0, encode(0x04, Buffer.alloc(300, 7))));
/** Longer than one nested signature, shorter than two. */
const LONG = sequence(
  objectIdentifier('1.2.3'),
  contextConstructed(0, encode(0x04, Buffer.alloc(outer.length + 700, 7))),
);
const stamped = signAuthenticode(request, leaf, TOKEN);

const tree = (signature: AuthenticodeSignature): unknown[] => [
  signature.signerName,
  isValid(signature),
  ...signature.nested.map(tree),
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a nested signature', () => {
  it('is found again, byte for byte, and both verify', () => {
    const read = readAuthenticode(nestSignature(outer, nested));
    expect(tree(read)).toEqual(['Test Publisher', true, ['Other Publisher', true]]);
    expect(read.nested.map(({ signedData }) => hex(signedData.bytes))).toEqual([hex(nested)]);
    expect(read.nested[0]?.algorithm).toBe('SHA512');
  });

  it('leaves everything before the unsigned attributes as it was', () => {
    for (const before of [outer, stamped]) {
      const [was, is] = [before, nestSignature(before, nested)].map((each) => parseSignedData(each));
      expect(is?.signers[0].signedBytes).toEqual(was?.signers[0].signedBytes);
      expect(is?.signers[0].signature).toEqual(was?.signers[0].signature);
      expect(is?.content?.bytes).toEqual(was?.content?.bytes);
      expect(is?.certificates).toEqual(was?.certificates);
    }
  });

  it('adds its attribute and nothing else: every other part has the same bytes', () => {
    const attribute = sequence(objectIdentifier(SPC_NESTED_SIGNATURE), encode(0x31, nested));
    const before = partsAtEveryLevel(outer);
    const after = partsAtEveryLevel(nestSignature(outer, nested));
    expect(before.pop()).toEqual(after.pop()?.filter((part) => part !== hex(contextConstructed(1, attribute))));
    expect(before.map((parts) => parts.slice(0, -1))).toEqual(after.map((parts) => parts.slice(0, -1)));
  });

  it('keeps the timestamp', () => {
    const [signer] = parseSignedData(nestSignature(stamped, nested)).signers;
    const tokens = attributeValues(signer.unsignedAttributes, SPC_RFC3161_TIMESTAMP);
    expect(tokens.map(({ bytes }) => hex(bytes))).toEqual([hex(TOKEN)]);
    expect(attributeValues(signer.unsignedAttributes, SPC_NESTED_SIGNATURE)).toHaveLength(1);
  });

  it('joins existing ones, under one attribute', () => {
    const made = nestSignature(nestSignature(nestSignature(stamped, nested), outer), stamped);
    const [signer] = parseSignedData(made).signers;
    expect(signer.unsignedAttributes.map(({ values }) => values.length).sort()).toEqual([1, 3]);
    expect(
      readAuthenticode(made)
        .nested.map(({ signedData }) => hex(signedData.bytes))
        .sort(),
    ).toEqual([nested, outer, stamped].map(hex).sort());
    expect(tree(readAuthenticode(made)).flat()).not.toContain(false);
  });

  // The attribute with one nested signature is shorter than LONG, the one with two is longer: it must change places.
  it.each([TOKEN, LONG])('keeps the unsigned attributes and their values in the order of DER (token %#)', (token) => {
    const first = signAuthenticode(request, leaf, token);
    for (const order of [
      [nested, outer, stamped],
      [stamped, outer, nested],
    ]) {
      let made = first;
      for (const next of order) {
        made = nestSignature(made, next);
        const attributes = unsignedAttributesOf(made);
        expect(attributes).toHaveLength(2);
        expect(attributes).toEqual([...attributes].sort());
        for (const { values } of parseSignedData(made).signers[0].unsignedAttributes) {
          const encodings = values.map(({ bytes }) => hex(bytes));
          expect(encodings).toEqual([...encodings].sort());
        }
      }
      expect(hex(made)).toBe(hex([nested, outer, stamped].reduce(nestSignature, first)));
    }
  });

  it('is seen by openssl', () => {
    const printed = openssl(['asn1parse', '-inform', 'DER', '-in', 'a'], {
      a: nestSignature(outer, nested),
    }).toString();
    expect(printed).toContain(SPC_NESTED_SIGNATURE);
    expect(printed.match(/:pkcs7-signedData/g)).toHaveLength(2);
  });

  it('is added to a signature encoded in BER, too', () => {
    const [open, close] = [Buffer.from('3080', 'hex'), Buffer.from('0000', 'hex')];
    const contentInfo = Buffer.concat([open, outer.subarray(4), close]);
    expect(tree(readAuthenticode(nestSignature(contentInfo, nested)))).toEqual([
      'Test Publisher',
      true,
      ['Other Publisher', true],
    ]);
  });

  it('drops what was appended after the outer one', () => {
    const made = nestSignature(Buffer.concat([outer, Buffer.alloc(100, 1)]), nested);
    expect(readAuthenticode(made).signedData.trailingLength).toBe(0);
  });

  it('is rejected by something that has no signer', () => {
    const certificates = sequence(
      objectIdentifier('1.2.840.113549.1.7.2'),
      contextConstructed(0, sequence(smallInteger(1), encode(0x31), sequence(objectIdentifier('1.2.3')), encode(0x31))),
    );
    expect(() => nestSignature(certificates, nested)).toThrow(expect.objectContaining({ code: 'cms-without-signer' }));
  });
});

/** The unsigned attributes as they stand, in hexadecimal, whose order is that of the bytes. */
function unsignedAttributesOf(cms: Uint8Array): string[] {
  let last = readElement(cms, 'test');
  for (let level = 0; level < 5; level += 1) last = parts(last, 'test').at(-1) ?? last;
  return parts(last, 'test').map(({ bytes }) => hex(bytes));
}

/** The parts of ContentInfo, its content, SignedData, signerInfos and SignerInfo: each is the last part of the one before. */
function partsAtEveryLevel(cms: Uint8Array): string[][] {
  const levels: string[][] = [];
  let element = readElement(cms, 'test');
  for (let level = 0; level < 5; level += 1) {
    const inside = parts(element, 'test');
    levels.push(inside.map(({ bytes }) => hex(bytes)));
    element = inside.at(-1) ?? element;
  }
  return levels;
}
