/** What an examination finds in signatures that verifiers refuse, warn of, or read in different ways. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import { objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { examineAuthenticode, type SignedFile } from '../../../src/authenticode/examine-authenticode.ts';
import { findAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import type { ContentDigest } from '../../../src/crypto/measure-content.ts';
import { IMAGE_DATA } from '../../../src/formats/pe/image-data.ts';
import { algorithm, attribute } from '../../support/signed-files/hostile-cms.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { MD5, type Peculiar, peculiarSignature, SHA1 } from './peculiar-signature.ts';

const pki = makePki();
const leaf = pki.leaf();
const ALGORITHMS: readonly ContentDigest[] = ['MD5', 'SHA1', 'SHA256'];
const digests = new Map(ALGORITHMS.map((name) => [name, createHash(name).update('content').digest()]));
const file = { dataType: SPC_PE_IMAGE_DATA, value: IMAGE_DATA, digests };

/** SpcSipInfo, as signatures of an MSI have it: a number, a GUID and five more numbers. */
const SIP_INFO = sequence(smallInteger(1), octetString(Buffer.alloc(16, 7)), ...Array(5).fill(smallInteger(0)));
const SHA224 = { oid: '2.16.840.1.101.3.4.2.4', name: 'sha224' };
const UNKNOWN = { oid: '1.2.3.4', name: 'sha256' };

const examine = (options: Peculiar = {}, of: SignedFile = file) =>
  examineAuthenticode(findAuthenticode(peculiarSignature(leaf, options)), of);
const codesOf = (options: Peculiar, of?: SignedFile) => examine(options, of).map(({ code }) => code);
const text = (oid: string, value = 'x') => attribute(oid, octetString(Buffer.from(value)));

describe('an examination', () => {
  it('finds nothing in a sound signature of the file, with signed attributes or without', () => {
    expect(examine()).toEqual([]);
    expect(examine({ withoutAttributes: true })).toEqual([]);
    expect(examine({ withoutAttributes: true, wrap: true })).toEqual([]);
    const other = { file: Buffer.from('other'), withoutAttributes: true };
    expect(codesOf(other)).toEqual(['content-digest-differs']);
  });

  it.each<[string, Peculiar, ...(readonly string[])]>([
    ['MD5', { digest: MD5 }, 'broken digest-algorithm-weak'],
    ['SHA-1', { digest: SHA1 }, 'warning digest-algorithm-aging'],
    [
      'another digest for the content',
      { contentDigest: MD5 },
      ...['broken digest-algorithms-differ', 'broken digest-algorithm-weak'],
    ],
    ['a digest that nothing is digested with', { digest: SHA224 }, 'unsupported digest-algorithm-unknown'],
    [
      'a digest that is not known',
      { digest: UNKNOWN },
      ...['unsupported digest-algorithm-unknown', 'unsupported digest-algorithm-unknown'],
    ],
    [
      'an unknown algorithm',
      { signatureAlgorithm: algorithm('2.16.840.1.101.3.4.3.17') },
      'unsupported signature-algorithm-unknown',
    ],
    [
      'RSASSA-PSS alone',
      { signatureAlgorithm: algorithm('1.2.840.113549.1.1.10') },
      'unsupported signature-parameters-wrong',
    ],
    ['a cabinet file', { dataType: '1.3.6.1.4.1.311.2.1.25' }, 'broken signed-kind-differs'],
    ['SpcPeImageData of an installer', { dataValue: SIP_INFO }, 'broken signed-kind-malformed'],
    ['SpcPeImageData with a part too many', { dataValue: sequence(sequence()) }, 'broken signed-kind-malformed'],
    ['no SpcPeImageData', { dataValue: Buffer.of() }, 'broken signed-kind-malformed'],
    ['other content', { file: Buffer.from('other') }, 'broken content-digest-differs'],
    ['no signer', { signers: 0 }, 'unsupported signature-unreadable'],
    ['another certificate', { certificates: [pki.root.der] }, 'unsupported signer-certificate-missing'],
    ['contentType of data', { signedContentType: '1.2.840.113549.1.7.1' }, 'broken content-type-differs'],
    ['no messageDigest', { messageDigests: 0 }, 'broken signed-attributes-damaged'],
    [
      'two messageDigests',
      { messageDigests: 2 },
      ...['broken signed-attributes-damaged', 'broken signed-attributes-repeated'],
    ],
    ['attributes in no order', { backwards: true }, 'note signed-attributes-unordered'],
    ['nothing in it', { content: undefined }, 'broken signature-unreadable'],
    [
      'an unsigned attribute twice',
      { unsignedAttributes: [text('1.2.3.4'), text('1.2.3.4')] },
      'note unsigned-attributes-repeated',
    ],
    [
      'a timestamp that Windows does not read',
      { unsignedAttributes: [text('1.2.840.113549.1.9.16.2.14')] },
      'warning timestamp-not-read',
    ],
  ])('finds %s', (_name, options, ...expected) => {
    const findings = examine(options);
    expect(findings.map(({ code, weight }) => `${weight} ${code}`)).toEqual(expected);
    for (const { message } of findings) expect(message).toMatch(/^[A-Z].*\.$/);
  });

  it('accepts the wrong data type that a format tolerates, and no other', () => {
    const toleratedType = '1.3.6.1.4.1.311.2.1.21';
    const codesFor = (options: Peculiar) => codesOf(options, { ...file, toleratedType });
    expect(codesFor({ dataType: toleratedType })).toEqual(['signed-kind-other']);
    expect(codesFor({ dataType: '1.3.6.1.4.1.311.2.1.22' })).toEqual(['signed-kind-differs']);
    expect(codesFor({ dataType: toleratedType, dataValue: SIP_INFO })).toContain('signed-kind-malformed');
  });

  it('accepts nested signatures in two attributes, or in one with two values, of which one cannot be read', () => {
    const nested = '1.3.6.1.4.1.311.2.4.1';
    const [inner, broken] = [peculiarSignature(leaf), peculiarSignature(leaf, { content: undefined })];
    for (const unsignedAttributes of [
      [attribute(nested, broken), attribute(nested, inner)],
      [attribute(nested, broken, inner)],
    ]) {
      const found = findAuthenticode(peculiarSignature(leaf, { unsignedAttributes }));
      expect(examineAuthenticode(found, file)).toEqual([]);
      const codes = found.nested.map((each) => examineAuthenticode(each, file).map(({ code }) => code));
      expect(codes).toEqual([['signature-unreadable'], []]);
    }
  });

  it('says that a digest is unknown if the file could not be digested with that algorithm', () => {
    expect(codesOf({}, { ...file, digests: new Map() })).toEqual(['digest-algorithm-unknown']);
  });
});

it('shows the signer of a CMS with other content', () => {
  const found = findAuthenticode(peculiarSignature(leaf, { contentType: '1.2.840.113549.1.7.1' }));
  expect(found.parts).toBeUndefined();
  expect(found.signedData?.signers[0].certificate).toEqual(Buffer.from(leaf.der));
  expect(findAuthenticode(sequence(objectIdentifier('1.2.3'))).signedData).toBeUndefined();
});
