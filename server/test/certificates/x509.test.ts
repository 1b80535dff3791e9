import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openssl } from '../../../test/support/programs/openssl.ts';
import { issueFor, localIssuer, selfSign } from '../../src/certificates/authority.ts';
import { encode, encodedName, issueCertificate, subjectOf, toPem } from '../../src/certificates/x509.ts';

const NAME = encodedName({ organization: 'an organization', commonName: 'an authority' });
const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const issuer = localIssuer(NAME, ecKey().privateKey);
/** Runs openssl in a folder with these certificates, and returns its output. */
const printed = (line: string, certificates: Readonly<Record<string, Uint8Array>>) => {
  const files = Object.entries(certificates).map(([name, der]) => [name, toPem(der)]);
  return openssl(line.split(' '), Object.fromEntries(files)).toString();
};

describe('an authority and the certificates that it issues', () => {
  test('passes openssl’s strict checks for its purpose, with every extension in its place', async () => {
    const { publicKey } = ecKey();
    const ca = await selfSign(issuer, new Date());
    const addresses = '255.254.253.252 2001:db8::1:7 :: ::1 2001:DB8:1:2:3:4:5:6 fe80:: ::ffff:192.0.2.128';
    const alternativeNames = ['sign.example.com', ...addresses.split(' ')];
    const request = { commonName: 'sign.example.com', publicKey, alternativeNames };
    const leaf = await issueFor(issuer, 'tls-server', request, new Date());
    const covered = alternativeNames.slice(1).map((address) => new X509Certificate(leaf).checkIP(address));
    expect(covered).toEqual(alternativeNames.slice(1));
    for (const what of [
      '-x509_strict -purpose sslserver',
      '-verify_hostname sign.example.com',
      '-verify_ip 2001:db8::1:7',
    ]) {
      expect(printed(`verify -CAfile ca ${what} leaf`, { ca, leaf })).toContain(': OK');
    }

    const text = printed('x509 -in ca -noout -text', { ca });
    expect(text).toMatch(/Basic Constraints: critical\n +CA:TRUE, pathlen:0\n/);
    expect(text).toMatch(/Key Usage: critical\n +Certificate Sign, CRL Sign\n/);
    const leafText = printed('x509 -in leaf -noout -text', { leaf });
    expect(leafText).toMatch(/Key Usage: critical\n +Digital Signature\n/);
    expect(leafText).toMatch(/Extended Key Usage: *\n +TLS Web Server Authentication\n/);
    expect(leafText).not.toContain('CA:TRUE');
  });

  test('has the names as written, a positive serial number of its own, and is valid from shortly before now', async () => {
    const der = await selfSign(issuer, new Date('2026-11-20T20:00:00.750Z'));
    const { subject, serialNumber, validFrom } = new X509Certificate(der);
    expect(encode(subjectOf(toPem(der)).toSchema())).toEqual(encode(NAME.toSchema()));
    expect(subject).toBe('O=an organization\nCN=an authority');
    expect(serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    expect(new X509Certificate(await selfSign(issuer, new Date())).serialNumber).not.toBe(serialNumber);
    expect(new Date(validFrom).toISOString()).toBe('2026-11-20T19:00:00.000Z');
  });
});

test.each([
  ['2049-12-31T23:59:59Z', 'UTCTIME', '491231235959Z'],
  ['2050-01-01T00:00:00Z', 'GENERALIZEDTIME', '20500101000000Z'],
])('an end of validity at %s is a %s', async (end, type, value) => {
  const der = await issueCertificate(issuer, {
    subject: NAME,
    publicKey: issuer.publicKey,
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date(end),
    serialNumber: Uint8Array.of(1),
    use: 'authority',
  });
  const parsed = printed('asn1parse -in end', { end: der });
  expect(parsed).toMatch(new RegExp(`${type} +:${value}`));
  expect(parsed).toMatch(/UTCTIME +:260101000000Z/);
});
