/** CMS SignedData on its own: detached, as formats other than Authenticode have it, checked by `openssl cms`. */

import { createHash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { digestAlgorithmOf } from '../../../src/asn1/algorithm-identifiers.ts';
import { contextPrimitive, encode, objectIdentifier, octetString, sequence } from '../../../src/asn1/write.ts';
import { readCertificateFields } from '../../../src/certificates/certificate.ts';
import { buildSignedAttributes, buildSignedData } from '../../../src/cms/build-signed-data.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { addUnsignedValue } from '../../../src/cms/unsigned-attributes.ts';
import { examineSigner } from '../../../src/cms/verify-signer.ts';
import { DIGEST_ALGORITHMS, type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { chainOf } from '../../support/signed-files/authenticode-signing.ts';
import { type IssuedCertificate, issue, makePki, testKey } from '../../support/signed-files/pki.ts';

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

const verifyArgs = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', 'cms', '-CAfile', 'root', '-purpose', 'any'];

function signedByOpenssl(args: readonly string[], signer = leaf): Buffer {
  const key = signer.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const signing = ['cms', '-sign', '-binary', '-outform', 'DER', '-in', 'content', '-signer', 'leaf', '-inkey', 'key'];
  return openssl([...signing, ...args], { content: CONTENT, leaf: signer.pem, key });
}

function codesOf(cms: Uint8Array): readonly string[] {
  const read = parseSignedData(cms);
  return examineSigner(read, read.signers[0], CONTENT).map(({ code }) => code);
}

describe('SignedData', () => {
  it.each(DIGEST_ALGORITHMS)('detached and attached, with %s, is accepted by openssl cms -verify', (algorithm) => {
    const files = { cms: signData(algorithm), root: pki.root.pem, content: CONTENT };
    expect(openssl([...verifyArgs, '-content', 'content'], files)).toEqual(CONTENT);
    const verify = () => openssl([...verifyArgs, '-content', 'content'], { ...files, content: 'other' });
    expect(verify).toThrow(/verification failure/);
    expect(openssl(verifyArgs, { cms: signData(algorithm, true), root: pki.root.pem })).toEqual(CONTENT);
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

  it('is read as it was built', () => {
    const read = parseSignedData(Buffer.concat([signData(), Buffer.alloc(3)]));
    const [signer] = read.signers;
    expect([read.contentType, read.content, read.trailingLength]).toEqual([DATA, undefined, 3]);
    expect(digestAlgorithmOf(signer.digestAlgorithm)).toBe('SHA256');
    expect(examineSigner(read, signer, CONTENT)).toEqual([]);
    expect(examineSigner(read, signer, Buffer.from('other'))).not.toEqual([]);
  });

  it.each<[string, readonly string[], IssuedCertificate?]>([
    ['RSA-PSS', ['-keyopt', 'rsa_padding_mode:pss']],
    ['a signer named by its key', ['-keyid']],
    ['BER with indefinite lengths', ['-stream', '-nodetach']],
    ['no signed attributes', ['-noattr']],
    ['an EC signer', [], pki.leaf({ key: testKey('ec') })],
  ])('of openssl is read: %s', (_name, args, signer = withKeyIdentifier) => {
    expect(codesOf(signedByOpenssl(['-md', 'sha256', ...args], signer))).toEqual([]);
  });

  it('of openssl is read with RSA-PSS only if its parameters are those of the signature', () => {
    const signed = (...options: readonly string[]) =>
      signedByOpenssl(['-md', 'sha256', ...options.flatMap((option) => ['-keyopt', option])]);
    const opensslAccepts = (cms: Uint8Array): boolean => {
      const args = ['cms', '-verify', '-noverify', '-binary', '-inform', 'DER', '-in', 'cms', '-content', 'content'];
      try {
        openssl(args, { cms, content: CONTENT });
        return true;
      } catch {
        return false;
      }
    };
    /** The last place where `from` stands is in the parameters of the SignerInfo. */
    const changed = (cms: Buffer, from: string, to: string): Buffer => {
      const bytes = Buffer.from(cms);
      const at = bytes.lastIndexOf(Buffer.from(from, 'hex'));
      expect(at).toBeGreaterThan(0);
      bytes.write(to, at, 'hex');
      return bytes;
    };
    const pss = signed('rsa_padding_mode:pss', 'rsa_pss_saltlen:32');
    const [saltOf32, saltOf31] = ['a203020120', 'a20302011f'];
    const [sha256, sha384] = ['608648016503040201', '608648016503040202'];
    for (const [cms, codes, accepted] of [
      [pss, [], true],
      [changed(pss, saltOf32, saltOf31), ['signature-value-wrong'], false],
      // The mask generation's, and then the digest itself.
      [changed(pss, sha256, sha384), ['signature-parameters-wrong'], false],
      [changed(changed(pss, sha256, sha384), sha256, sha384), ['signature-parameters-wrong'], false],
      // openssl can make such masks; nothing else checks them here.
      [signed('rsa_padding_mode:pss', 'rsa_mgf1_md:sha1'), ['signature-parameters-wrong'], true],
    ] as const) {
      expect([codesOf(cms), opensslAccepts(cms)]).toEqual([codes, accepted]);
    }
  });
});

describe('the certificates to carry', () => {
  it('are all but a root after the leaf: an authority with the name of its issuer is not a root', async () => {
    const key = (name: string) => testKey('rsa-2048', name);
    const root = issue({ commonName: 'Same CA', key: key('same root'), ca: true });
    const intermediate = issue({ commonName: 'Same CA', issuer: root, key: key('same intermediate'), ca: true });
    const signer = pki.leaf({ issuer: intermediate });
    const chain = await chainOf(signer, intermediate, root);
    expect(chain.certificates).toHaveLength(3);
    const expected = [signer, intermediate].map(({ der }) => Uint8Array.from(der));
    expect(chain.withoutRoot.map(({ der }) => der)).toEqual(expected);
  });

  it('are the leaf alone where it is self-signed', async () => {
    const alone = issue({ commonName: 'Alone', key: testKey('rsa-2048') });
    expect((await chainOf(alone)).withoutRoot.map(({ der }) => der)).toEqual([Uint8Array.from(alone.der)]);
  });
});

it('an unsigned value can be added, and openssl still accepts the rest', () => {
  const value = encode(0x0c, Buffer.from('later'));
  const cms = addUnsignedValue(signData(), { type: '1.2.3.4', value });
  const found = attributeValues(parseSignedData(cms).signers[0].unsignedAttributes, '1.2.3.4');
  expect(found.map(({ bytes }) => Buffer.from(bytes))).toEqual([Buffer.from(value)]);
  expect(openssl([...verifyArgs, '-content', 'content'], { cms, root: pki.root.pem, content: CONTENT })).toEqual(
    CONTENT,
  );
});

describe('what is malformed', () => {
  it.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), 'cms-malformed'],
    ['an empty SEQUENCE', sequence(), 'cms-malformed'],
    ['a type and no content', sequence(SIGNED_DATA), 'cms-malformed'],
    ['content under another tag', sequence(SIGNED_DATA, contextPrimitive(0, sequence())), 'cms-malformed'],
    ['plain data', sequence(objectIdentifier(DATA)), 'cms-not-signed-data'],
  ])('is rejected: %s', (_name, bytes, code) => {
    expect(() => parseSignedData(bytes)).toThrow(expect.objectContaining({ code, category: 'local' }));
  });

  it("is rejected: the name of the signer's issuer, which readers of every format show", () => {
    const cms = Buffer.from(signData());
    // The value of the common name becomes part of the object identifier in front of it.
    const commonName = cms.lastIndexOf('0603550403', 'hex');
    cms[commonName + 1] = 5 + (cms[commonName + 6] ?? 0);
    expect(() => parseSignedData(cms)).toThrow(expect.objectContaining({ code: 'cms-malformed' }));
  });
});
