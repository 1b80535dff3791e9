/** What a signature says of itself is shown, however other programs write it, and damage in it is said to be damage. */

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import {
  bitString,
  contextConstructed,
  contextPrimitive,
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
const unicode = (text: string) => contextPrimitive(0, utf16be(text));
const signed = (type: string, ...values: readonly Uint8Array[]): Peculiar => ({
  signedAttributes: [attribute(type, ...values)],
});
const opusInfo = (...fields: readonly Uint8Array[]) => signed(OPUS_INFO, sequence(...fields));
const named = (name: Uint8Array) => opusInfo(contextConstructed(0, name));
const linked = (link: Uint8Array) => opusInfo(contextConstructed(1, link));

it('a signature is described as osslsigncode writes it', () => {
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

const PURPOSES = sequence(objectIdentifier('1.3.6.1.4.1.311.2.1.22'), objectIdentifier('1.2.3.4'));
const MONIKER = contextConstructed(1, octetString(Buffer.alloc(16, 0xab)), octetString(Buffer.of(1)));
const OTHERS = [attribute('1.2.840.113549.1.9.15', sequence()), attribute('1.2.3.5', sequence())];
const MANY = Array.from({ length: 20 }, (_, index) => attribute(`1.2.3.6.${index}`, sequence()));
const OF_MANY = expect.stringMatching(/^1\.2\.3\.6\.0, .* and 4 more$/);
const ALL_FLAGS = 'includeResources, includeDebugInfo, includeImportAddressTable';

it.each<[string, Peculiar, string, string | undefined]>([
  ['a description in UTF-8 instead of ASCII', named(contextPrimitive(1, Buffer.from('Имя'))), 'description', 'Имя'],
  ['a link to a file', linked(contextConstructed(2, unicode('readme.txt'))), 'web page', 'readme.txt'],
  ['a link to a moniker', linked(MONIKER), 'web page', `an object of class ${'ab'.repeat(16)}`],
  ['an empty link', linked(contextPrimitive(0, Buffer.of())), 'web page', undefined],
  ['all flags', { dataValue: sequence(bitString(Buffer.of(0xe0))) }, 'image data flags', ALL_FLAGS],
  ['other purposes', signed(STATEMENT_TYPE, PURPOSES), 'statement type', 'commercial, 1.2.3.4'],
  ['attributes', { signedAttributes: OTHERS }, 'other signed attributes', '1.2.3.5, S/MIME capabilities'],
  ['many attributes', { unsignedAttributes: MANY }, 'other unsigned attributes', OF_MANY],
  ['another data type', { dataType: '1.2.3.4' }, 'made for', '1.2.3.4'],
  ['half a character', named(contextPrimitive(0, Buffer.of(1))), 'description', 'unreadable'],
  ['a link of no kind', linked(contextPrimitive(5, Buffer.of(1))), 'description', 'unreadable'],
  ['purposes that are no SEQUENCE', signed(STATEMENT_TYPE, octetString(Buffer.of())), 'statement type', 'unreadable'],
  ['a time that is none', signed('1.2.840.113549.1.9.5', octetString(Buffer.of(1))), 'signing time', 'unreadable'],
  ['image data that is no SEQUENCE', { dataValue: octetString(Buffer.of(1)) }, 'image data', 'unreadable'],
])('a signature with %s is described: %3$s', (_what, options, name, value) => {
  const lines = linesOf(peculiarSignature(leaf, options));
  expect(lines[name]).toEqual(value);
  expect(lines['content digest']).toMatch(/\(matches\)$/);
});

it('a signature of a kind that other programs write for such files is described by its type', () => {
  const dataType = '1.3.6.1.4.1.311.2.1.28';
  const parts = readAuthenticode(peculiarSignature(leaf, { dataType }));
  const [, described] = describeAuthenticode(parts, { ...file, otherTypes: [dataType] });
  expect(described).toEqual({ name: 'data type', value: dataType });
});
