import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DIGEST_OID } from '../../../src/asn1/algorithm-identifiers.ts';
import { encode, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { parseCertificate } from '../../../src/certificates/certificate.ts';
import { NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { checkAnswer } from '../../../src/timestamp/check-answer.ts';
import { type IssuedCertificate, issue, testKey } from '../../support/signed-files/pki.ts';
import { buildToken, buildTstInfo, TIME_STAMPING, type TokenParts } from './support/build-token.ts';

const SIGNATURE = Buffer.from('signature');
const NONCE = Uint8Array.of(1, 2, 3);
/** Of the built tokens. */
const NOW = new Date('2024-06-01T12:00:00Z');

const examine = (
  parts: TokenParts,
  algorithm: 'SHA1' | 'SHA256' = 'SHA256',
  trusted: readonly IssuedCertificate[] | undefined = undefined,
) => {
  const digest = createHash(NODE_DIGEST_NAME[algorithm]).update(SIGNATURE).digest();
  const info = buildTstInfo(SIGNATURE, { algorithm: DIGEST_OID[algorithm], digest, rest: [encode(0x02, NONCE)] });
  const certificates = trusted?.map(({ der }) => parseCertificate(der, 'root'));
  const roots = certificates && { roots: certificates, source: 'roots.pem' };
  const body = sequence(sequence(smallInteger(0)), buildToken({ info, ...parts }));
  return checkAnswer(body, { signatureValue: SIGNATURE, algorithm, policy: undefined, nonce: NONCE, now: NOW, roots });
};
const authority = (name: string, more: Partial<Parameters<typeof issue>[0]> = {}): IssuedCertificate =>
  issue({ commonName: name, key: testKey('ec', name), ca: true, ...more });
const signerUnder = (issuer: IssuedCertificate): IssuedCertificate =>
  issue({ commonName: 'TSA', key: testKey('rsa-2048'), issuer, purposes: [TIME_STAMPING] });

const root = authority('Root');

describe('a token, with roots named', () => {
  const issuer = authority('Issuer', { issuer: root });
  const signer = signerUnder(issuer);
  const whole = { signer, certificates: [issuer.der, signer.der] };
  const refused = { refusal: 'the certificate chain of its timestamp does not end at a root in roots.pem' };

  it('is used when its chain ends at one of them', () => {
    const used = expect.objectContaining({ time: NOW });
    expect(examine(whole, 'SHA256', [authority('Other'), root])).toEqual(used);
    expect(examine(whole, 'SHA256', [issuer])).toEqual(used);
    expect(examine(whole, 'SHA256', [signer])).toEqual(used);
    expect(examine({ signer, certificates: [signer.der] }, 'SHA256', [issuer])).toEqual(used);
  });

  it('is rejected when it ends at another certificate, or is incomplete', () => {
    expect(examine(whole, 'SHA256', [authority('Other')])).toEqual(refused);
    expect(examine({ ...whole, certificates: [...whole.certificates, root.der] }, 'SHA256', [])).toEqual(refused);
    expect(examine({ signer, certificates: [signer.der] }, 'SHA256', [root])).toEqual(refused);
  });

  it('is rejected when its root has only the name of one of them', () => {
    const namesake = issue({ commonName: 'Root', key: testKey('ec', 'namesake'), ca: true });
    const certificates = [...whole.certificates, root.der];
    expect(examine({ ...whole, certificates }, 'SHA256', [namesake])).toEqual(refused);
  });

  it('is rejected when a certificate on the way to one of them had expired', () => {
    const old = authority('Old', { issuer: root, notAfter: new Date('2024-01-01') });
    const below = signerUnder(old);
    const examined = examine({ signer: below, certificates: [old.der, below.der] }, 'SHA256', [root]);
    expect(examined).toEqual({ refusal: expect.stringMatching(/"Old" expired/) });
  });
});

describe('a token', () => {
  it('signed under an authority that it carries is used', () => {
    const issuer = authority('Issuer', { issuer: root });
    const signer = signerUnder(issuer);
    const used = expect.objectContaining({ time: NOW });
    for (const more of [[root, issuer], [issuer], []]) {
      expect(examine({ signer, certificates: [...more.map(({ der }) => der), signer.der] })).toEqual(used);
    }
    expect(examine({})).toEqual(used);
  });

  it.each<[string, Partial<Parameters<typeof issue>[0]>, RegExp]>([
    ['that is none', { ca: false, purposes: [] }, /does not belong to a certificate authority/],
    ['that was not valid yet', { notBefore: new Date('2024-07-01') }, /"CA" is not valid/],
    ['for other purposes', { purposes: ['1.3.6.1.5.5.7.3.3'] }, /lacks timeStamping/],
  ])('signed under an authority %s is not used', (_which, more, refusal) => {
    const issuer = authority('CA', { issuer: root, ...more });
    const signer = signerUnder(issuer);
    const checked = examine({ signer, certificates: [signer.der, issuer.der, root.der] });
    expect(checked).toEqual({ refusal: expect.stringMatching(refusal) });
  });

  it('is used although a certificate above its issuer had expired: a verifier may have a newer root', () => {
    const cross = authority('Cross', { issuer: root, notAfter: new Date('2024-01-01') });
    const issuer = authority('Issuer', { issuer: cross });
    const signer = signerUnder(issuer);
    const certificates = [signer, issuer, cross, root].map(({ der }) => der);
    expect(examine({ signer, certificates })).toMatchObject({ time: NOW });
  });

  it('that carries another of its issuer’s name, which signed nothing, is used: only real links count', () => {
    const issuer = authority('Issuer', { issuer: root });
    const impostor = issue({ commonName: 'Issuer', key: testKey('ec', 'impostor'), ca: false });
    const signer = signerUnder(issuer);
    expect(examine({ signer, certificates: [impostor.der, signer.der] })).toMatchObject({ time: NOW });
  });

  it('that is itself signed with SHA-1 is used only if SHA-1 was requested: otherwise Java treats the JAR as unsigned', () => {
    expect(examine({ algorithm: 'SHA1' })).toEqual({ refusal: expect.stringMatching(/SHA-1/) });
    expect(examine({ algorithm: 'SHA1' }, 'SHA1')).toMatchObject({ time: NOW });
    expect(examine({}, 'SHA1')).toMatchObject({ time: NOW });
  });
});
