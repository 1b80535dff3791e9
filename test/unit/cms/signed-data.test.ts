/** CMS SignedData on its own: detached, as formats other than Authenticode have it, checked by `openssl cms`. */

import { createHash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contextPrimitive, encode, objectIdentifier, octetString, sequence } from '../../../src/asn1/write.ts';
import { lazy } from '../../../src/bytes/reuse.ts';
import { readCertificateFields } from '../../../src/certificates/certificate.ts';
import { buildSignedAttributes, buildSignedData } from '../../../src/cms/build-signed-data.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { addUnsignedValue } from '../../../src/cms/unsigned-attributes.ts';
import { examineSigner } from '../../../src/cms/verify-signer.ts';
import { DIGEST_ALGORITHMS, type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { openssl, opensslAccepts, signedByOpenssl } from '../../support/programs/openssl.ts';
import { type IssuedCertificate, makePki, testKey } from '../../support/signed-files/pki.ts';

const DATA = '1.2.840.113549.1.7.1';
const SIGNED_DATA = objectIdentifier('1.2.840.113549.1.7.2');
const CONTENT = Buffer.from('Signature-Version: 1.0\r\n');
const pki = makePki();
const leaf = pki.leaf();
const withKeyIdentifier = pki.leaf({ keyIdentifier: true });

function signData(algorithm: DigestAlgorithm = 'SHA256', attached = false, signer = leaf): Uint8Array {
  const name = NODE_DIGEST_NAME[algorithm];
  const signedAttributes = buildSignedAttributes(DATA, createHash(name).update(CONTENT).digest());
  return buildSignedData({
    algorithm,
    content: { type: DATA, value: attached ? octetString(CONTENT) : undefined },
    certificates: [signer.der, pki.intermediate.der],
    signer: readCertificateFields(signer.der),
    signedAttributes,
    signature: sign(name, signedAttributes, signer.privateKey),
  });
}

const verifyArgs = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', 'cms', '-content', 'content'];
const trustArgs = ['-CAfile', 'root', '-purpose', 'any'];
const accepts = (cms: Uint8Array, content: string | Uint8Array = CONTENT) =>
  opensslAccepts([...verifyArgs, ...trustArgs], { cms, root: pki.root.pem, content });

function codesOf(cms: Uint8Array): readonly string[] {
  const read = parseSignedData(cms);
  return examineSigner(read, read.signers[0], CONTENT).map(({ code }) => code);
}

describe('SignedData', () => {
  it.each(DIGEST_ALGORITHMS)('with %s, is accepted by openssl cms -verify', (algorithm) => {
    expect(accepts(signData(algorithm))).toBe(true);
  });

  it('is accepted attached too, and rejected for other content', () => {
    const files = { cms: signData('SHA256', true), root: pki.root.pem };
    expect(openssl([...verifyArgs.slice(0, -2), ...trustArgs], files)).toEqual(CONTENT);
    expect(accepts(signData(), 'other')).toBe(false);
  });

  it('is DER with version 1, NULL parameters and rsaEncryption, to openssl', () => {
    const cms = signData();
    const again = openssl(['cms', '-cmsout', '-inform', 'DER', '-outform', 'DER', '-in', 'cms'], { cms });
    expect(again).toEqual(Buffer.from(cms));
    const printed = openssl(['cms', '-cmsout', '-print', '-inform', 'DER', '-in', 'cms'], { cms }).toString();
    const text = printed.replace(/\s+/g, ' ');
    expect(text).toMatch(/d.signedData: version: 1 digestAlgorithms: algorithm: sha256 \([.\d]+\) parameter: NULL/);
    expect(text).toMatch(/signerInfos: version: 1 .* algorithm: rsaEncryption \([.\d]+\) parameter: NULL/);
  });

  it.each<[string, readonly string[], IssuedCertificate?]>([
    ['RSA-PSS', ['-keyopt', 'rsa_padding_mode:pss']],
    ['a signer named by its key', ['-keyid']],
    ['BER with indefinite lengths', ['-stream', '-nodetach']],
    ['no signed attributes', ['-noattr']],
    ['an EC signer', [], pki.leaf({ key: testKey('ec') })],
  ])('of openssl is read: %s', (_name, args, signer = withKeyIdentifier) => {
    expect(codesOf(signedByOpenssl(CONTENT, signer, args))).toEqual([]);
  });

  const pss = (...options: readonly string[]) => {
    const args = ['rsa_padding_mode:pss', ...options].flatMap((option) => ['-keyopt', option]);
    return signedByOpenssl(CONTENT, leaf, args);
  };
  /** The last place where `from` stands is in the parameters of the SignerInfo. */
  const changed = (original: Buffer, from: string, to: string): Buffer => {
    const cms = Buffer.from(original);
    const at = cms.lastIndexOf(Buffer.from(from, 'hex'));
    expect(at).toBeGreaterThan(0);
    cms.write(to, at, 'hex');
    return cms;
  };
  const withSalt = lazy(() => pss('rsa_pss_saltlen:32'));
  const [sha256, sha384] = ['608648016503040201', '608648016503040202'];

  it.each<[string, () => Buffer, readonly string[], boolean]>([
    ['its salt', withSalt, [], true],
    ['another salt', () => changed(withSalt(), 'a203020120', 'a20302011f'), ['signature-value-wrong'], false],
    ['another mask', () => changed(withSalt(), sha256, sha384), ['signature-parameters-wrong'], false],
    [
      'another digest',
      () => changed(changed(withSalt(), sha256, sha384), sha256, sha384),
      ['signature-parameters-wrong'],
      false,
    ],
    // openssl can make such masks; nothing else checks them here.
    ['a mask by SHA-1', () => pss('rsa_mgf1_md:sha1'), ['signature-parameters-wrong'], true],
  ])('of openssl with RSA-PSS, and %s in its parameters', (_, make, codes, isAccepted) => {
    const cms = make();
    const files = { cms, content: CONTENT };
    expect([codesOf(cms), opensslAccepts([...verifyArgs, '-noverify'], files)]).toEqual([codes, isAccepted]);
  });
});

it('an unsigned value can be added, and openssl still accepts the rest', () => {
  const value = encode(0x0c, Buffer.from('later'));
  const cms = addUnsignedValue(signData(), { type: '1.2.3.4', value });
  const found = attributeValues(parseSignedData(cms).signers[0].unsignedAttributes, '1.2.3.4');
  expect(found.map(({ bytes }) => Buffer.from(bytes))).toEqual([Buffer.from(value)]);
  expect(accepts(cms)).toBe(true);
});

it.each<[string, Uint8Array, string]>([
  ['nothing', new Uint8Array(), 'cms-malformed'],
  ['an empty SEQUENCE', sequence(), 'cms-malformed'],
  ['a type and no content', sequence(SIGNED_DATA), 'cms-malformed'],
  ['content under another tag', sequence(SIGNED_DATA, contextPrimitive(0, sequence())), 'cms-malformed'],
  ['plain data', sequence(objectIdentifier(DATA)), 'cms-not-signed-data'],
])('what is malformed is rejected: %s', (_name, bytes, code) => {
  expect(() => parseSignedData(bytes)).toThrow(expect.objectContaining({ code, category: 'local' }));
});
