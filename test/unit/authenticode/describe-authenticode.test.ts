/** What a signature says of itself is shown, however other programs write it, and damage in it is said to be damage. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import {
  bitString,
  contextConstructed,
  contextPrimitive,
  encode,
  objectIdentifier,
  octetString,
  sequence,
  utf16be,
} from '../../../src/asn1/write.ts';
import { readAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { describeAuthenticode } from '../../../src/authenticode/signatures.ts';
import { IMAGE_DATA } from '../../../src/formats/pe/image-data.ts';
import { osslsigncodeSignature } from '../../support/programs/osslsigncode.ts';
import { attribute } from '../../support/signed-files/hostile-cms.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { type Peculiar, peculiarSignature } from './peculiar-signature.ts';

const pki = makePki();
const leaf = pki.leaf();
const OPUS_INFO = '1.3.6.1.4.1.311.2.1.12';
const STATEMENT_TYPE = '1.3.6.1.4.1.311.2.1.11';
const digest = createHash('sha256').update('content').digest();
const file = { dataType: SPC_PE_IMAGE_DATA, value: IMAGE_DATA, digests: new Map([['SHA256', digest] as const]) };

const linesOf = (cms: Uint8Array): Readonly<Record<string, string>> =>
  Object.fromEntries(describeAuthenticode(readAuthenticode(cms), file).map(({ name, value }) => [name, value]));
const describePeculiar = (options: Peculiar) => linesOf(peculiarSignature(leaf, options));
const withOpusInfo = (...fields: readonly Uint8Array[]) =>
  describePeculiar({ signedAttributes: [attribute(OPUS_INFO, sequence(...fields))] });
const unicode = (text: string) => contextPrimitive(0, utf16be(text));

describe('a signature is described', () => {
  it('as osslsigncode writes it', () => {
    expect(linesOf(osslsigncodeSignature(leaf, [pki.intermediate]))).toEqual({
      'content digest': expect.stringMatching(/^SHA256 [0-9a-f]{64} \(does not match\)$/),
      description: 'A name',
      'web page': 'https://a.test/x',
      'statement type': 'individual',
      'signing time': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z \(as the signer says\)$/),
      'image data flags': 'includeResources',
      'image data link': '<<<Obsolete>>>',
    });
  });

  it('with a description in UTF-8 where ASCII should be', () => {
    const description = contextPrimitive(1, Buffer.from('Имя'));
    expect(withOpusInfo(contextConstructed(0, description))).toMatchObject({ description: 'Имя' });
  });

  const moniker = contextConstructed(1, octetString(Buffer.alloc(16, 0xab)), octetString(Buffer.of(1)));

  it.each<[string, Uint8Array, string]>([
    ['a file', contextConstructed(2, unicode('readme.txt')), 'readme.txt'],
    ['a moniker', moniker, 'an object of class'],
  ])('with a link that is %s', (_name, link, value) => {
    expect(withOpusInfo(contextConstructed(1, link))['web page']).toContain(value);
  });

  it('without lines for what is there and empty', () => {
    const lines = withOpusInfo(
      contextConstructed(0, unicode('')),
      contextConstructed(1, contextPrimitive(0, Buffer.of())),
    );
    expect(Object.keys(lines)).toEqual(['content digest', 'image data flags']);
  });

  it('with its page hashes, both kinds', () => {
    const hashes = (type: string) => sequence(objectIdentifier(type), encode(0x31, octetString(Buffer.alloc(24))));
    const serialized = encode(0x31, hashes('1.3.6.1.4.1.311.2.3.1'), hashes('1.3.6.1.4.1.311.2.3.2'));
    const classId = octetString(Buffer.from('a6b586d5b4a12466ae05a217da8e60d6', 'hex'));
    const link = contextConstructed(1, classId, octetString(serialized));
    const dataValue = sequence(bitString(Buffer.of(0xe0)), contextConstructed(0, link));
    expect(describePeculiar({ dataValue })).toMatchObject({
      'image data flags': 'includeResources, includeDebugInfo, includeImportAddressTable',
      'page hashes': 'SHA1, SHA256',
    });
  });

  it('with the statement type that is there, and names for other attributes where there are any', () => {
    const lines = describePeculiar({
      signedAttributes: [
        attribute(STATEMENT_TYPE, sequence(objectIdentifier('1.3.6.1.4.1.311.2.1.22'), objectIdentifier('1.2.3.4'))),
        attribute('1.2.840.113549.1.9.15', sequence()),
        attribute('1.2.3.5', sequence()),
      ],
      unsignedAttributes: Array.from({ length: 20 }, (_, index) => attribute(`1.2.3.6.${index}`, sequence())),
    });
    expect(lines).toMatchObject({
      'statement type': 'commercial, 1.2.3.4',
      'other signed attributes': '1.2.3.5, S/MIME capabilities',
      'other unsigned attributes': expect.stringMatching(/^1\.2\.3\.6\.0, .* and 4 more$/),
    });
  });

  it('with the type and the value of a kind that other programs write for such files', () => {
    const dataType = '1.3.6.1.4.1.311.2.1.28';
    const dataValue = sequence(bitString(Buffer.of(0x80)));
    const parts = readAuthenticode(peculiarSignature(leaf, { dataType, dataValue }));
    expect(describeAuthenticode(parts, { ...file, otherTypes: [dataType] }).slice(1)).toEqual([
      { name: 'data type', value: dataType },
      { name: 'image data flags', value: 'includeResources' },
    ]);
    expect(describePeculiar({ dataType })).toMatchObject({ 'made for': dataType });
  });
});

describe('damage in what is optional', () => {
  const info = (...fields: readonly Uint8Array[]) => ({
    signedAttributes: [attribute(OPUS_INFO, sequence(...fields))],
  });

  it.each<[string, string, Peculiar]>([
    ['description', 'half a character', info(contextConstructed(0, contextPrimitive(0, Buffer.of(1))))],
    ['description', 'two names', info(contextConstructed(0, unicode('a'), unicode('b')))],
    ['description', 'a link of no kind', info(contextConstructed(1, contextPrimitive(5, Buffer.of(1))))],
    ['statement type', 'no SEQUENCE', { signedAttributes: [attribute(STATEMENT_TYPE, objectIdentifier('1.2.3'))] }],
    ['signing time', 'no time', { signedAttributes: [attribute('1.2.840.113549.1.9.5', octetString(Buffer.of(1)))] }],
    ['image data', 'no SEQUENCE', { dataValue: octetString(Buffer.of(1)) }],
  ])('is said, and the rest is shown: %s, %s', (name, _what, options) => {
    const lines = describePeculiar(options);
    expect(lines[name]).toBe('unreadable');
    expect(lines['content digest']).toMatch(/\(matches\)$/);
  });
});
