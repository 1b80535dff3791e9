/** Compares what inspecting finds in signatures with what OpenSSL reports. */

import { X509Certificate } from 'node:crypto';
import { readFile as readBytes } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { composeReading } from '../../../src/app/compose-local.ts';
import { objectName } from '../../../src/asn1/object-names.ts';
import { inspectCertificates } from '../../../src/verifying/inspect-certificates.ts';
import { inspectFile } from '../../../src/verifying/inspect-file.ts';
import { fixture } from '../../support/programs/cli.ts';
import { ANY_PURPOSE, CODE_SIGNING, issue, makePki, testKey } from '../../support/signed-files/pki.ts';

const inspect = (name: string) => inspectFile(fixture(name), composeReading());

describe('the certificates of a signature', () => {
  const { root, intermediate, leaf } = makePki('Inspected');
  const signer = leaf();
  const stranger = issue({ commonName: 'Stranger', key: testKey('ec', 'stranger') });

  it('come as chains: the signer first, each followed by its issuer, each once', () => {
    const given = [stranger, root, intermediate, signer, root].map(({ der }) => der);
    const found = inspectCertificates(given, [signer.der]);
    expect(found.map(({ name, issuerIndex, isSelfSigned }) => [name, issuerIndex, isSelfSigned])).toEqual([
      ['Inspected Publisher', 1, false],
      ['Inspected Code Signing CA', 2, false],
      ['Inspected Root', undefined, true],
      ['Stranger', undefined, true],
    ]);
  });

  it('have an issuer only where it really signed them', () => {
    const namesake = issue({ commonName: 'Inspected Code Signing CA', key: testKey('ec', 'namesake'), ca: true });
    const found = inspectCertificates([signer.der, namesake.der], [signer.der]);
    expect(found.map(({ name, issuerIndex }) => [name, issuerIndex])).toEqual([
      ['Inspected Publisher', undefined],
      ['Inspected Code Signing CA', undefined],
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

it.each([
  ['pe', 'golden/sha384-rsa3072.exe', 'SpcIndirectDataContent'],
  ['jar', 'golden/sha384-rsa3072.jar', 'data'],
])('a signed file of the format %s says who signed what, and how', async (format, name, contentType) => {
  const file = await inspect(name);
  expect(file).toMatchObject({ format, findings: [], size: (await readBytes(fixture(name))).length });
  const [signature] = file.signatures;
  expect(signature).toMatchObject({ signer: 'Golden RSA 3072', intact: true, algorithm: 'SHA384', findings: [] });
  expect(signature?.contentType?.name).toBe(contentType);
  const [signer] = signature?.signers ?? [];
  expect(signer).toMatchObject({ name: 'Golden RSA 3072', issuer: 'CN=Golden Code Signing CA' });
  expect([signer?.digestAlgorithm.name, signer?.signature.length]).toEqual(['SHA-384', 384]);
  const types = signer?.signedAttributes.map(({ type }) => type.name);
  expect(types).toEqual(expect.arrayContaining(['contentType', 'messageDigest']));
  expect(signer?.certificate).toBe(signature?.certificates[0]?.sha256);
  const pem = await readBytes(fixture('golden/leaf-3072.pem'));
  expect(Buffer.compare(signature?.certificates[0]?.der ?? Buffer.of(), new X509Certificate(pem).raw)).toBe(0);
});

it.each([
  ['1.3.6.1.4.1.311.2.1.12', 'SpcSpOpusInfo'],
  ['1.3.6.1.4.1.311.10.3.13', 'lifetime signing'],
  ['1.2.840.10045.4.3.3', 'ECDSA with SHA-384'],
  ['1.2.3.4', undefined],
  ['constructor', undefined],
])('the name of %s is %s', (oid, name) => {
  expect(objectName(oid)).toBe(name);
});
