import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderForAll } from '../../../test/support/set-up.ts';
import { issueFor, localIssuer, selfSign } from '../../src/certificates/authority.ts';
import { encode, encodedName, issueCertificate, subjectOf, toPem } from '../../src/certificates/x509.ts';

const folder = folderForAll();

const NAME = encodedName({ organization: 'an organization', commonName: 'an authority' });
const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const issuer = localIssuer(NAME, ecKey().privateKey);
const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { encoding: 'utf8' });

async function write(name: string, der: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, toPem(der));
  return path;
}

describe('an authority and the certificates that it issues', () => {
  test('passes openssl’s strict checks for its purpose, with every extension in its place', async () => {
    const { publicKey } = ecKey();
    const ca = await write('ca.pem', await selfSign(issuer, new Date()));
    const addresses = '255.254.253.252 2001:db8::1:7 :: ::1 2001:DB8:1:2:3:4:5:6 fe80:: ::ffff:192.0.2.128';
    const alternativeNames = ['sign.example.com', ...addresses.split(' ')];
    const request = { commonName: 'sign.example.com', publicKey, alternativeNames };
    const der = await issueFor(issuer, 'tls-server', request, new Date());
    const leaf = await write('tls.pem', der);
    const covered = alternativeNames.slice(1).map((address) => new X509Certificate(der).checkIP(address));
    expect(covered).toEqual(alternativeNames.slice(1));
    expect(openssl('verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, leaf)).toContain(': OK');
    expect(openssl('verify', '-CAfile', ca, '-verify_hostname', 'sign.example.com', leaf)).toContain(': OK');
    expect(openssl('verify', '-CAfile', ca, '-verify_ip', '2001:db8::1:7', leaf)).toContain(': OK');

    const text = openssl('x509', '-in', ca, '-noout', '-text');
    expect(text).toMatch(/Basic Constraints: critical\n +CA:TRUE, pathlen:0\n/);
    expect(text).toMatch(/Key Usage: critical\n +Certificate Sign, CRL Sign\n/);
    const leafText = openssl('x509', '-in', leaf, '-noout', '-text');
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
  const parsed = openssl('asn1parse', '-in', await write(`end-${type}.pem`, der));
  expect(parsed).toMatch(new RegExp(`${type} +:${value}`));
  expect(parsed).toMatch(/UTCTIME +:260101000000Z/);
});
