/** What an examination finds in signatures that verifiers refuse, warn of, or read in different ways. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import { encode, objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { examineAuthenticode, type SignedFile } from '../../../src/authenticode/examine-authenticode.ts';
import { findAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import type { ContentDigest } from '../../../src/crypto/measure-content.ts';
import { hasFindingAgainst } from '../../../src/errors/finding.ts';
import { IMAGE_DATA } from '../../../src/formats/pe/image-data.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { attribute, MD5, type Peculiar, peculiarSignature, SHA1 } from './peculiar-signature.ts';

const pki = makePki();
const leaf = pki.leaf();
const NAMES: readonly (readonly [ContentDigest, string])[] = [
  ['MD5', 'md5'],
  ['SHA1', 'sha1'],
  ['SHA256', 'sha256'],
];
const digestsOf = (text: string): ReadonlyMap<ContentDigest, Uint8Array> =>
  new Map(NAMES.map(([algorithm, name]) => [algorithm, createHash(name).update(text).digest()]));
const file = { dataType: SPC_PE_IMAGE_DATA, value: IMAGE_DATA, digests: digestsOf('content') };

/** SpcSipInfo, as signatures of an MSI have it: a number, a GUID and five more numbers. */
const SIP_INFO = sequence(smallInteger(1), octetString(Buffer.alloc(16, 7)), ...Array(5).fill(smallInteger(0)));
const SHA224 = { oid: '2.16.840.1.101.3.4.2.4', name: 'sha224' };
const UNKNOWN = { oid: '1.2.3.4', name: 'sha256' };

const examine = (options: Peculiar = {}, of: SignedFile = file) =>
  examineAuthenticode(findAuthenticode(peculiarSignature(leaf, options)), of);
const text = (oid: string, value = 'x') => attribute(oid, octetString(Buffer.from(value)));
const unsigned = (...oids: readonly string[]) => ({ unsignedAttributes: oids.map((oid) => text(oid)) });

describe('an examination', () => {
  it('finds nothing in a sound signature of the file, with signed attributes or without', () => {
    expect(examine()).toEqual([]);
    expect(examine({ withoutAttributes: true })).toEqual([]);
    expect(examine({ withoutAttributes: true, wrap: true })).toEqual([]);
    const other = { digested: Buffer.from('other'), withoutAttributes: true };
    expect(examine(other).map(({ code }) => code)).toEqual(['content-digest-differs']);
  });

  it.each<[string, Peculiar]>([
    ['a digest that is not known', { digest: UNKNOWN }],
    ['a signature algorithm that is not known', { signatureOid: '2.16.840.1.101.3.4.3.17' }],
    ['RSASSA-PSS without its parameters', { signatureOid: '1.2.840.113549.1.1.10' }],
    ['two signers', { signers: 2 }],
    ['no signer', { signers: 0 }],
    ['no certificate', { certificates: [] }],
    ['data of another kind', { contentType: '1.2.840.113549.1.7.1' }],
  ])('calls unsupported what cannot be verified: %s', (_, options) => {
    const weights = new Set(examine(options).map(({ weight }) => weight));
    expect([...weights]).toEqual(['unsupported']);
  });

  it.each<[string, Peculiar, readonly string[]]>([
    ['digest-algorithm-weak', { digest: MD5 }, ['digest-algorithm-weak']],
    ['another digest for the content', { contentDigest: SHA1 }, ['digest-algorithms-differ', 'digest-algorithm-aging']],
    ['MD5 for the content alone', { contentDigest: MD5 }, ['digest-algorithms-differ', 'digest-algorithm-weak']],
    ['a digest that nothing is digested with', { digest: SHA224 }, ['digest-algorithm-unknown']],
    ['one that is not known', { digest: UNKNOWN }, ['digest-algorithm-unknown', 'digest-algorithm-unknown']],
    ['a cabinet file', { dataType: '1.3.6.1.4.1.311.2.1.25' }, ['signed-kind-differs']],
    ['an MSI', { dataType: '1.3.6.1.4.1.311.2.1.30' }, ['signed-kind-differs']],
    ['an unknown kind of file', { dataType: '1.2.3.4' }, ['signed-kind-differs']],
    ['a purpose for a kind of file', { dataType: '1.3.6.1.4.1.311.2.1.21' }, ['signed-kind-differs']],
    ['SpcPeImageData that is text', { dataValue: octetString(Buffer.from('x')) }, ['signed-kind-malformed']],
    ['SpcPeImageData of a cabinet', { dataValue: SIP_INFO }, ['signed-kind-malformed']],
    ['SpcPeImageData with a part too many', { dataValue: sequence(sequence()) }, ['signed-kind-malformed']],
    ['no SpcPeImageData', { dataValue: Buffer.of() }, ['signed-kind-malformed']],
    ['other content', { digested: Buffer.from('other') }, ['content-digest-differs']],
    ['two signers', { signers: 2 }, ['several-signers']],
    ['no certificate', { certificates: [] }, ['signer-certificate-missing']],
    [
      'an attribute twice',
      { signedAttributes: [text('1.2.3.4'), text('1.2.3.4', 'y')] },
      ['signed-attributes-repeated'],
    ],
    ['messageDigest twice', { messageDigests: 2 }, ['signed-attributes-damaged', 'signed-attributes-repeated']],
    ['data of another kind', { contentType: '1.2.840.113549.1.7.1' }, ['signature-unreadable']],
    ['nothing in it', { content: [] }, ['signature-unreadable']],
  ])('that speaks against integrity: %s', (_name, options, codes) => {
    const findings = examine(options);
    expect(findings.map(({ code }) => code)).toEqual(codes);
    expect(hasFindingAgainst(findings, 'integrity')).toBe(true);
    for (const { message } of findings) expect(message).toMatch(/^[A-Z].*\.$/);
  });

  it.each<[string, Peculiar, string, 'warning' | 'note']>([
    ['SHA-1', { digest: SHA1 }, 'digest-algorithm-aging', 'warning'],
    ['signed attributes in no order', { backwards: true }, 'signed-attributes-unordered', 'note'],
    ['an unsigned attribute twice', unsigned('1.2.3.4', '1.2.3.4'), 'unsigned-attributes-repeated', 'note'],
    ['a timestamp that Windows does not read', unsigned('1.2.840.113549.1.9.16.2.14'), 'timestamp-not-read', 'warning'],
  ])('that speaks against nothing: %s', (_name, options, code, weight) => {
    expect(examine(options)).toEqual([{ code, message: expect.stringMatching(/^[A-Z].*\.$/), weight }]);
  });

  it('accepts the wrong data type that a format tolerates, and no other', () => {
    const tolerating = { ...file, toleratedType: '1.3.6.1.4.1.311.2.1.21' };
    const findingsOf = (options: Peculiar) =>
      examine(options, tolerating).map(({ code, weight }) => `${code} ${weight}`);
    expect(findingsOf({ dataType: tolerating.toleratedType })).toEqual(['signed-kind-other note']);
    expect(findingsOf({ dataType: '1.3.6.1.4.1.311.2.1.22' })).toEqual(['signed-kind-differs broken']);
    expect(findingsOf({ dataType: tolerating.toleratedType, dataValue: SIP_INFO })).toContain(
      'signed-kind-malformed broken',
    );
  });

  it('accepts nested signatures in two attributes, or in one with two values', () => {
    const nested = '1.3.6.1.4.1.311.2.4.1';
    const inner = peculiarSignature(leaf);
    for (const unsignedAttributes of [
      [attribute(nested, inner), attribute(nested, inner)],
      [attribute(nested, inner, inner)],
    ]) {
      const found = findAuthenticode(peculiarSignature(leaf, { unsignedAttributes }));
      expect(examineAuthenticode(found, file)).toEqual([]);
      expect(found.nested.map((each) => examineAuthenticode(each, file))).toEqual([[], []]);
    }
  });

  it('says that a digest is unknown if the file could not be digested with that algorithm', () => {
    expect(examine({}, { ...file, digests: new Map() }).map(({ code }) => code)).toEqual(['digest-algorithm-unknown']);
  });

  it('finds a changed signature value', () => {
    const changed = Uint8Array.from(peculiarSignature(leaf));
    changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
    const findings = examineAuthenticode(findAuthenticode(changed), file);
    expect(findings.map(({ code }) => code)).toEqual(['signature-value-wrong']);
  });
});

describe('data that cannot be read', () => {
  const broken = peculiarSignature(leaf, { content: [] });

  it('leaves the signature that it is nested in readable', () => {
    const unsignedAttributes = [attribute('1.3.6.1.4.1.311.2.4.1', broken, peculiarSignature(leaf))];
    const found = findAuthenticode(peculiarSignature(leaf, { unsignedAttributes }));
    expect(examineAuthenticode(found, file)).toEqual([]);
    const codes = found.nested.map((each) => examineAuthenticode(each, file).map(({ code }) => code));
    expect(codes).toEqual([['signature-unreadable'], []]);
  });

  it('is distinguished from missing data: a CMS with other content has its signer', () => {
    const found = findAuthenticode(peculiarSignature(leaf, { contentType: '1.2.840.113549.1.7.1' }));
    expect(found.parts).toBeUndefined();
    expect(found.signedData?.signers[0].certificate).toEqual(Buffer.from(leaf.der));
    expect(findAuthenticode(sequence(objectIdentifier('1.2.3'))).signedData).toBeUndefined();
  });

  it('is a signature whose attributes, with those of the others, are too many for one file', () => {
    const values = Array.from({ length: 990 }, () => Buffer.of(5, 0));
    const crowded = peculiarSignature(leaf, { unsignedAttributes: [attribute('1.2.3.4', ...values)] });
    const nested = Array.from({ length: 5 }, () => crowded);
    const unsignedAttributes = [attribute('1.3.6.1.4.1.311.2.4.1', ...nested)];
    const found = findAuthenticode(peculiarSignature(leaf, { unsignedAttributes }));
    const codes = found.nested.map(({ error }) => error?.code);
    expect(codes).toEqual([undefined, undefined, undefined, undefined, 'cms-too-large']);
    expect(findAuthenticode(crowded).error).toBeUndefined();
  });

  it('is a signature with more nested ones than the limit, which are not examined', () => {
    const many = encode(0x31, ...Array.from({ length: 65 }, () => sequence()));
    const unsignedAttributes = [sequence(objectIdentifier('1.3.6.1.4.1.311.2.4.1'), many)];
    const found = findAuthenticode(peculiarSignature(leaf, { unsignedAttributes }));
    expect(found).toMatchObject({ parts: undefined, nested: [], error: { code: 'authenticode-nested-too-deeply' } });
  });
});
