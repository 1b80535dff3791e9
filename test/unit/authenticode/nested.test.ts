/** Nesting a signature in another one: what is signed stays, and so does what was nested or stamped before. */

import { describe, expect, it } from 'vitest';
import { SPC_RFC3161_TIMESTAMP } from '../../../src/asn1/object-identifiers.ts';
import { parts } from '../../../src/asn1/read.ts';
import { contextConstructed, encode, objectIdentifier, sequence } from '../../../src/asn1/write.ts';
import { nestSignature } from '../../../src/authenticode/authenticode-file.ts';
import { readAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { readSignedDataFields, readSignerInfoFields } from '../../../src/cms/signed-data-fields.ts';
import { chainOf, requestFor, signAuthenticode } from '../../support/signed-files/authenticode-signing.ts';
import { makePki, testKey } from '../../support/signed-files/pki.ts';
import { isValid } from './is-valid.ts';

const pki = makePki();
const leaf = pki.leaf();
const other = pki.leaf({ commonName: 'Other Publisher', key: testKey('rsa-2048', 'root') });
const request = requestFor(await chainOf(leaf, pki.intermediate));
const outer = signAuthenticode(request, leaf);
const nested = signAuthenticode(requestFor(await chainOf(other, pki.intermediate), { algorithm: 'SHA512' }), other);
const TOKEN = tokenOf(300);
/** Longer than one nested signature, shorter than two. */
const LONG = tokenOf(outer.length + 700);
const stamped = signAuthenticode(request, leaf, TOKEN);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a nested signature', () => {
  it('joins existing ones, under one attribute, next to the timestamp', () => {
    const made = nestSignature(nestSignature(nestSignature(stamped, nested), outer), stamped);
    const [signer] = parseSignedData(made).signers;
    expect(signer.unsignedAttributes.map(({ values }) => values.length).sort()).toEqual([1, 3]);
    const tokens = attributeValues(signer.unsignedAttributes, SPC_RFC3161_TIMESTAMP);
    expect(tokens.map(({ bytes }) => hex(bytes))).toEqual([hex(TOKEN)]);
    const read = readAuthenticode(made);
    expect(read.nested.map(({ signedData }) => hex(signedData.bytes)).sort()).toEqual(
      [nested, outer, stamped].map(hex).sort(),
    );
    expect([read, ...read.nested].map(isValid)).toEqual([true, true, true, true]);
  });

  // The attribute with one nested signature is shorter than LONG, the one with two is longer: it must change places.
  it.each([TOKEN, LONG])('keeps the unsigned attributes and their values in the order of DER (token %#)', (token) => {
    const first = signAuthenticode(request, leaf, token);
    let made = first;
    for (const next of [nested, outer, stamped]) {
      made = nestSignature(made, next);
      const attributes = unsignedAttributesOf(made);
      expect(attributes).toHaveLength(2);
      expect(attributes).toEqual(attributes.toSorted());
      for (const { values } of parseSignedData(made).signers[0].unsignedAttributes) {
        const encodings = values.map(({ bytes }) => hex(bytes));
        expect(encodings).toEqual(encodings.toSorted());
      }
    }
    expect(hex([stamped, outer, nested].reduce(nestSignature, first))).toBe(hex(made));
  });

  it('is added to a signature encoded in BER, too, without what was appended to that', () => {
    const ber = Buffer.concat([Buffer.from('3080', 'hex'), outer.subarray(4), Buffer.alloc(2), Buffer.alloc(100, 1)]);
    const read = readAuthenticode(nestSignature(ber, nested));
    expect([read, ...read.nested].map(isValid)).toEqual([true, true]);
    expect(read.nested[0]?.signedData.signers[0].name).toBe('Other Publisher');
    expect(read.signedData.trailingLength).toBe(0);
  });
});

function tokenOf(length: number): Uint8Array {
  return sequence(objectIdentifier('1.2.3'), contextConstructed(0, encode(0x04, Buffer.alloc(length, 7))));
}

/** The unsigned attributes as they stand, in hexadecimal, whose order is that of the bytes. */
function unsignedAttributesOf(cms: Uint8Array): string[] {
  const { unsignedAttributes } = readSignerInfoFields(readSignedDataFields(cms).signers[0]);
  return parts(unsignedAttributes ?? expect.unreachable(), 'test').map(({ bytes }) => hex(bytes));
}
