/** Compares what inspecting finds in certificates with what OpenSSL reports. */

import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inspectCertificates } from '../../../src/verifying/inspect-certificates.ts';
import { ANY_PURPOSE, CODE_SIGNING, issue, makePki, testKey } from '../../support/signed-files/pki.ts';

describe('the certificates of a signature', () => {
  const { root, intermediate, leaf } = makePki('Inspected');
  const signer = leaf();
  const stranger = issue({ commonName: 'Stranger', key: testKey('ec', 'stranger') });

  it('come as chains: the signer first, each followed by its issuer, each once', () => {
    // With one that has the name of its issuer, and did not sign it.
    const namesake = issue({ commonName: 'Inspected Code Signing CA', key: testKey('ec', 'namesake'), ca: true });
    const given = [stranger, namesake, root, intermediate, signer, root].map(({ der }) => der);
    const found = inspectCertificates(given, [signer.der]);
    expect(found.map(({ name, issuerIndex, isSelfSigned }) => [name, issuerIndex, isSelfSigned])).toEqual([
      ['Inspected Publisher', 1, false],
      ['Inspected Code Signing CA', 2, false],
      ['Inspected Root', undefined, true],
      ['Stranger', undefined, true],
      ['Inspected Code Signing CA', undefined, true],
    ]);
  });

  it('say what OpenSSL says of them', () => {
    const [found] = inspectCertificates([signer.der], [signer.der]);
    const x509 = new X509Certificate(signer.der);
    const plain = (fingerprint: string) => fingerprint.replaceAll(':', '').toLowerCase();
    expect(found).toMatchObject({
      subject: x509.subject,
      issuer: x509.issuer,
      serialNumber: x509.serialNumber.toLowerCase(),
      notBefore: new Date(x509.validFrom),
      notAfter: new Date(x509.validTo),
      sha256: plain(x509.fingerprint256),
      sha1: plain(x509.fingerprint),
      publicKey: { type: 'rsa', bits: 2048, curve: undefined },
      signatureAlgorithm: { oid: '1.2.840.113549.1.1.11', name: 'RSA with SHA-256' },
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: [{ oid: CODE_SIGNING, name: 'codeSigning' }],
      isAuthority: false,
    });
  });

  it('may have a curve, several purposes or none, and no key usage', () => {
    const ec = issue({ commonName: 'EC', key: testKey('ec'), purposes: [ANY_PURPOSE, '1.2.3.4'], keyUsage: [] });
    const [found] = inspectCertificates([ec.der], []);
    expect(found?.publicKey).toEqual({ type: 'ec', bits: undefined, curve: 'prime256v1' });
    expect(found?.keyUsage).toBeUndefined();
    expect(found?.extendedKeyUsage?.map(({ name }) => name)).toEqual(['any purpose', undefined]);
    expect(inspectCertificates([root.der], [])[0]).toMatchObject({ extendedKeyUsage: undefined, isAuthority: true });
  });

  it('are reported although OpenSSL cannot read them', () => {
    const damaged = Buffer.from(signer.der);
    // The first digit of the year in which it becomes valid.
    damaged[damaged.indexOf('200101000000Z')] = 0x58;
    const [found] = inspectCertificates([damaged], []);
    expect(found).toMatchObject({ name: 'Inspected Publisher', notBefore: undefined, publicKey: undefined });
  });
});
