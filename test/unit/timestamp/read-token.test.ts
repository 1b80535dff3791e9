/** What is read from timestamp tokens of OpenSSL, and what is found wrong with tokens that lie. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SIGNING_CERTIFICATE } from '../../../src/asn1/object-identifiers.ts';
import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
} from '../../../src/asn1/write.ts';
import { parseCertificate } from '../../../src/certificates/certificate.ts';
import { readSignedDataFields } from '../../../src/cms/signed-data-fields.ts';
import { readTimestampToken } from '../../../src/timestamp/read-token.ts';
import type { Timestamp } from '../../../src/timestamp/timestamp.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { forAll } from '../../support/set-up.ts';
import { issue, makePki, SERVER_AUTH, testKey } from '../../support/signed-files/pki.ts';
import {
  buildToken,
  buildTstInfo,
  issuerSerialOf,
  signingCertificateV2,
  signingTime,
  TIME_STAMPING,
  type TstInfoParts,
  tokenSigner,
} from './support/build-token.ts';

const SIGNATURE = Buffer.from('signature');
const codes = ({ findings }: Timestamp): string[] => findings.map(({ code }) => code);
const weights = ({ findings }: Timestamp): string[] => findings.map(({ weight }) => weight);

const authority = await forAll(startTimestampAuthority());

describe('a token of OpenSSL', () => {
  it.each(['sha256', 'sha384', 'sha512'] as const)('over a %s digest is sound', async (algorithm) => {
    const token = await authority.stamp(SIGNATURE, { algorithm });
    const timestamp = readTimestampToken(token, SIGNATURE);
    expect(timestamp).toMatchObject({
      kind: 'rfc3161',
      bytes: token,
      algorithm,
      policy: authority.policy,
      signerName: 'Test Timestamp Authority',
      findings: [],
    });
    expect(timestamp.serialNumber).toMatch(/^10[0-9a-f]{16}$/);
    expect(Math.abs((timestamp.time?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(timestamp.certificates).toHaveLength(2);
    const pem = parseCertificate(timestamp.signerCertificate ?? new Uint8Array(), 'token').x509.toString();
    expect(pem.trim()).toBe(authority.certificatePem.trim());
    expect(opensslAccepts(token)).toBe(true);
  });

  it.each([
    ['20240601120000Z', '2024-06-01T12:00:00.000Z'],
    ['20240601120000.5Z', '2024-06-01T12:00:00.500Z'],
    ['20240601120000.123456789Z', '2024-06-01T12:00:00.123Z'],
    ['20240229235959Z', '2024-02-29T23:59:59.000Z'],
  ])('of %s is read to the millisecond', async (genTime, expected) => {
    const timestamp = readTimestampToken(await authority.stamp(SIGNATURE, { genTime }), SIGNATURE);
    expect(timestamp.time?.toISOString()).toBe(expected);
    expect(timestamp.findings).toEqual([]);
  });

  it.each(['sha1', 'sha512'] as const)(
    'that names its certificate by %s (both versions of ESSCertID) is sound',
    async (certificateDigest) => {
      const token = await authority.stamp(SIGNATURE, { certificateDigest });
      const type = certificateDigest === 'sha1' ? '060b2a864886f70d010910020c' : '060b2a864886f70d010910022f';
      expect(token.includes(Buffer.from(type, 'hex'))).toBe(true);
      expect(readTimestampToken(token, SIGNATURE).findings).toEqual([]);
    },
  );

  it('in BER, its content in pieces, is sound', async () => {
    const token = await authority.stamp(SIGNATURE, { streamed: true });
    expect(token.subarray(0, 2).toString('hex')).toBe('3080');
    expect(token.includes(Buffer.from('a0802480', 'hex'))).toBe(true);
    expect(readTimestampToken(token, SIGNATURE)).toMatchObject({ policy: authority.policy, findings: [] });
  });

  it.each([
    ['sha1', 'warning'],
    ['md5', 'broken'],
  ] as const)('over a weak digest (%s) has a finding: %s', async (algorithm, weight) => {
    const timestamp = readTimestampToken(await authority.stamp(SIGNATURE, { algorithm }), SIGNATURE);
    expect(timestamp).toMatchObject({ algorithm, findings: [{ code: 'timestamp-algorithm-weak', weight }] });
  });

  it.each([
    ['corrupt', 'timestamp-signature-wrong', 'broken'],
    ['certificate-missing', 'timestamp-without-certificate', 'unsupported'],
    ['certificate-differs', 'timestamp-certificate-differs', 'broken'],
    ['imprint-wrong', 'timestamp-other-signature', 'broken'],
    ['purpose-wrong', 'timestamp-purpose', 'untrusted'],
    ['purpose-uncritical', 'timestamp-purpose', 'note'],
    ['purpose-several', 'timestamp-purpose', 'note'],
  ] as const)('made wrong (%s) is found out: %s, %s', async (mode, code, what) => {
    const timestamp = readTimestampToken(await authority.stamp(SIGNATURE, { mode }), SIGNATURE);
    expect([codes(timestamp), weights(timestamp)]).toEqual([[code], [what]]);
  });

  it('cut off anywhere, or with any byte changed, is detected, without an exception', async () => {
    const token = await authority.stamp(SIGNATURE);
    for (let length = 0; length < token.length; length += 211) {
      expect(codes(readTimestampToken(token.subarray(0, length), SIGNATURE))).toEqual(['timestamp-unreadable']);
    }
    const info = token.indexOf(Buffer.from('180f', 'hex'));
    for (const position of [info + 4, info + 12, token.length - 1, token.indexOf(authority.policy)]) {
      const changed = Buffer.from(token);
      changed.writeUInt8(changed.readUInt8(Math.max(0, position)) ^ 1, Math.max(0, position));
      expect(readTimestampToken(changed, SIGNATURE).findings).not.toEqual([]);
    }
  });
});

describe('a token', () => {
  it('that is built here for all that follows is sound', () => {
    expect(readTimestampToken(buildToken(), SIGNATURE)).toMatchObject({
      time: new Date('2024-06-01T12:00:00Z'),
      policy: '1.2.3.4',
      serialNumber: '01',
      findings: [],
    });
  });

  it.each<[string, TstInfoParts, boolean]>([
    ['a time of the 30th of February', { genTime: '20240230120000Z' }, false],
    ['a time without seconds', { genTime: '202406011200Z' }, false],
    ['a time of 24 o’clock', { genTime: '20240601240000Z' }, false],
    ['a local time', { genTime: '20240601120000' }, false],
    ['a time with an offset', { genTime: '20240601120000+0100' }, false],
    ['a time with a comma', { genTime: '20240601120000,5Z' }, false],
    ['a time of a thousand digits', { genTime: `20240601120000.${'1'.repeat(1000)}Z` }, false],
    ['version 2', { version: 2 }, false],
    ['no serial number', { serialNumber: new Uint8Array() }, false],
    ['an endless serial number', { serialNumber: Buffer.alloc(65, 1) }, false],
    ['something unknown at the end', { rest: [nullValue()] }, false],
    ['an unknown critical extension', { rest: [extensions(true)] }, false],
    ['an unknown extension', { rest: [extensions(false)] }, true],
    [
      'ordering, accuracy and tsa',
      { rest: [sequence(), encode(0x01, Uint8Array.of(0)), contextConstructed(0, nullValue())] },
      true,
    ],
  ])('with %s', (_what, parts, isRead) => {
    const timestamp = readTimestampToken(buildToken({ info: buildTstInfo(SIGNATURE, parts) }), SIGNATURE);
    expect(codes(timestamp)).toEqual(isRead ? [] : ['timestamp-unreadable']);
    expect(timestamp.time !== undefined).toBe(isRead);
    expect(timestamp.signerName).toBe('Built TSA');
  });

  it('with bytes after the TSTInfo is rejected', () => {
    const info = Buffer.concat([buildTstInfo(SIGNATURE), Uint8Array.of(0)]);
    expect(codes(readTimestampToken(buildToken({ info }), SIGNATURE))).toContain('timestamp-unreadable');
  });

  it('with an imprint of an algorithm that is not known is rejected', () => {
    const info = buildTstInfo(SIGNATURE, { algorithm: '1.2.840.113549.2.4' });
    const timestamp = readTimestampToken(buildToken({ info }), SIGNATURE);
    expect(codes(timestamp)).toContain('timestamp-algorithm-unknown');
    expect(timestamp.algorithm).toBeUndefined();
  });

  it.each([
    ['data', { contentType: '1.2.840.113549.1.7.1' }],
    ['warning', { detached: true }],
    ['a SEQUENCE', { content: buildTstInfo(SIGNATURE) }],
  ])('that holds %s is no timestamp', (_what, parts) => {
    const timestamp = readTimestampToken(buildToken(parts), SIGNATURE);
    expect(codes(timestamp)).toContain('timestamp-unreadable');
    expect(timestamp.time).toBeUndefined();
  });

  it('whose messageDigest is of something else is rejected', () => {
    const timestamp = readTimestampToken(buildToken({ digested: Buffer.from('else') }), SIGNATURE);
    expect(codes(timestamp)).toContain('timestamp-signature-wrong');
  });

  it('of several signers is rejected, although the first is right', () => {
    const { contentInfo, signerInfos, signers } = readSignedDataFields(buildToken());
    const [signer] = signers;
    const doubled = Buffer.from(contentInfo.bytes);
    const once = Buffer.from(signerInfos.bytes);
    const twice = encode(0x31, signer.bytes, signer.bytes);
    const token = spliced(doubled, once, twice);
    expect(codes(readTimestampToken(token, SIGNATURE))).toEqual(['timestamp-several-signers']);
  });

  it('with two signing times is rejected, with one it is not', () => {
    const certificate = signingCertificateV2(tokenSigner().der);
    const one = signingTime('240601120000Z');
    const build = (...times: (typeof one)[]) => buildToken({ attributes: [certificate, ...times] });
    expect(codes(readTimestampToken(build(one), SIGNATURE))).toEqual([]);
    const two = readTimestampToken(build(one, signingTime('240601120001Z')), SIGNATURE);
    expect(codes(two)).toEqual(['timestamp-attributes-damaged']);
  });
});

describe('the certificate that a token names (ESSCertID)', () => {
  const { der } = tokenSigner();
  const version1 = (digest: Uint8Array) => ({
    type: SIGNING_CERTIFICATE,
    value: sequence(sequence(sequence(octetString(digest)))),
  });
  const sha1 = createHash('sha1').update(der).digest();
  const own = signingCertificateV2(der);
  const other = issue({ commonName: 'Other', key: testKey('rsa-2048') });

  it.each([
    ['by SHA-256, the default', [own]],
    ['by SHA-256, said aloud', [signingCertificateV2(der, { algorithm: '2.16.840.1.101.3.4.2.1' })]],
    ['by SHA-1', [version1(sha1)]],
    ['twice, in both versions', [own, version1(sha1)]],
    ['with issuer and serial number', [signingCertificateV2(der, { issuerSerial: issuerSerialOf(der) })]],
  ])("is its signer's: %s", (_how, attributes) => {
    expect(codes(readTimestampToken(buildToken({ attributes }), SIGNATURE))).toEqual([]);
  });

  it.each([
    ['not named', []],
    ['named twice in one version', [own, own]],
    ['another', [signingCertificateV2(other.der)]],
    ['another in one of the versions', [own, version1(createHash('sha1').update(other.der).digest())]],
    [
      'of another serial number',
      [signingCertificateV2(der, { issuerSerial: issuerSerialOf(der, Buffer.from('020155', 'hex')) })],
    ],
    ['of another issuer', [signingCertificateV2(der, { issuerSerial: issuerSerialOf(other.der) })]],
    [
      'of no issuer',
      [signingCertificateV2(der, { issuerSerial: sequence(sequence(), encode(0x02, Uint8Array.of(1))) })],
    ],
    [
      'named by MD5',
      [signingCertificateV2(der, { algorithm: '1.2.840.113549.2.5', digest: createHash('md5').update(der).digest() })],
    ],
    ['named by an unknown digest', [signingCertificateV2(der, { algorithm: '1.2.3.4' })]],
  ])('is rejected: %s', (_how, attributes) => {
    const timestamp = readTimestampToken(buildToken({ attributes }), SIGNATURE);
    expect(codes(timestamp)).toEqual(['timestamp-certificate-differs']);
    expect(weights(timestamp)[0]).toBe('broken');
  });

  it.each([
    ['nothing at all', sequence()],
    ['an empty list', sequence(sequence())],
    ['a number', encode(0x02, Uint8Array.of(1))],
  ])('is %s: unreadable', (_what, value) => {
    const attributes = [{ type: own.type, value }];
    expect(codes(readTimestampToken(buildToken({ attributes }), SIGNATURE))).toContain('timestamp-unreadable');
  });
});

it.each([
  ['code signing', ['1.3.6.1.5.5.7.3.3'], 'untrusted'],
  ['anything (anyExtendedKeyUsage)', ['2.5.29.37.0'], 'untrusted'],
  ['none said', [], 'untrusted'],
  ['timestamps and TLS', [TIME_STAMPING, SERVER_AUTH], 'note'],
])('the purpose of the certificate %s', (_what, purposes, what) => {
  const signer = makePki().leaf({ commonName: 'TSA', purposes });
  const timestamp = readTimestampToken(buildToken({ signer }), SIGNATURE);
  expect([codes(timestamp), weights(timestamp)]).toEqual([['timestamp-purpose'], [what]]);
});

function extensions(critical: boolean): Uint8Array {
  const flag = critical ? [encode(0x01, Uint8Array.of(0xff))] : [];
  return contextConstructed(1, sequence(objectIdentifier('1.2.3.4'), ...flag, octetString(nullValue())));
}

/** The outermost three elements' lengths are written again. */
function spliced(contentInfo: Buffer, part: Buffer, replacement: Uint8Array): Uint8Array {
  const { tagged, signedData } = readSignedDataFields(contentInfo);
  const inner = Buffer.from(signedData.contents);
  const start = inner.lastIndexOf(part);
  const changed = encode(0x30, inner.subarray(0, start), replacement, inner.subarray(start + part.length));
  const type = contentInfo.subarray(0, 0);
  const before = Buffer.from(readSignedDataFields(contentInfo).contentInfo.contents);
  const oid = before.subarray(0, before.length - tagged.bytes.length);
  return sequence(type, oid, contextConstructed(0, changed));
}

function opensslAccepts(token: Uint8Array): boolean {
  const args = ['ts', '-verify', '-token_in', '-in', 'token', '-data', 'data', '-CAfile', 'root.pem'];
  return openssl(args, { token, data: SIGNATURE, 'root.pem': authority.rootPem }).toString().includes('OK');
}
