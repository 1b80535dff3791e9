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
import { readSignedDataFields } from '../../../src/cms/signed-data-fields.ts';
import { readTimestampToken } from '../../../src/timestamp/read-token.ts';
import type { Timestamp } from '../../../src/timestamp/timestamp.ts';
import { openssl, verifyTimestamp } from '../../support/programs/openssl.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { forAll } from '../../support/set-up.ts';
import { issue, makePki, testKey } from '../../support/signed-files/pki.ts';
import {
  buildToken,
  buildTstInfo,
  issuerSerialOf,
  type SigningCertificateParts,
  signingCertificateV2,
  signingTime,
  streamed,
  type TstInfoParts,
  tokenSigner,
} from './support/build-token.ts';

const SIGNATURE = Buffer.from('signature');
const codes = ({ findings }: Timestamp): string[] => findings.map(({ code }) => code);

const authority = await forAll(startTimestampAuthority());

const { tsa } = authority.certificates;
const TSA_FILES = {
  'tsa.pem': tsa.pem,
  'tsa.key': tsa.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  'root.pem': authority.rootPem,
};

it('a token that OpenSSL makes is sound', () => {
  const configuration = `[tsa]\nserial=serial\ndefault_policy=1.2.3.4\ndigests=sha256\naccuracy=secs:1\nordering=yes\ntsa_name=yes\n`;
  const files = { ...TSA_FILES, serial: '10ff', 'tsa.cnf': configuration };
  const digest = createHash('sha256').update(SIGNATURE).digest('hex');
  const query = openssl(['ts', '-query', '-digest', digest, '-sha256', '-cert']);
  const signer = ['-signer', 'tsa.pem', '-inkey', 'tsa.key', '-sha256', '-chain', 'root.pem'];
  const reply = ['-config', 'tsa.cnf', '-section', 'tsa', '-queryfile', 'query', '-token_out', '-out', 'token'];
  const token = openssl(['ts', '-reply', ...reply, ...signer], { ...files, query }, 'token');
  const timestamp = readTimestampToken(token, SIGNATURE);
  const signerName = 'Test Timestamp Authority';
  expect(timestamp).toMatchObject({
    algorithm: 'sha256',
    policy: '1.2.3.4',
    signerName,
    serialNumber: '1100',
    findings: [],
  });
  expect(Math.abs((timestamp.time?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(timestamp.certificates).toHaveLength(2);
});

describe("a token of the tests' authority", () => {
  it('is sound, and OpenSSL accepts it', async () => {
    const token = await authority.stamp(SIGNATURE, { algorithm: 'sha512' });
    const timestamp = readTimestampToken(token, SIGNATURE);
    const { policy } = authority;
    expect(timestamp).toMatchObject({ kind: 'rfc3161', bytes: token, algorithm: 'sha512', policy, findings: [] });
    expect(timestamp.signerCertificate).toEqual(tsa.der);
    expect(verifyTimestamp(token, SIGNATURE, authority.rootPem)).toContain('Verification: OK');
  });

  it.each([
    ['20240601120000.5Z', '2024-06-01T12:00:00.500Z'],
    ['20240601120000.123456789Z', '2024-06-01T12:00:00.123Z'],
    ['20240229235959Z', '2024-02-29T23:59:59.000Z'],
  ])('of %s is read to the millisecond', async (genTime, expected) => {
    const timestamp = readTimestampToken(await authority.stamp(SIGNATURE, { genTime }), SIGNATURE);
    expect(timestamp.time?.toISOString()).toBe(expected);
    expect(timestamp.findings).toEqual([]);
  });

  it('in BER, its content in pieces, is sound', async () => {
    const token = streamed(await authority.stamp(SIGNATURE));
    expect(readTimestampToken(token, SIGNATURE)).toMatchObject({ policy: authority.policy, findings: [] });
    expect(verifyTimestamp(token, SIGNATURE, authority.rootPem)).toContain('Verification: OK');
  });

  it.each([
    [{ algorithm: 'sha1' }, 'timestamp-algorithm-weak', 'warning'],
    [{ algorithm: 'md5' }, 'timestamp-algorithm-weak', 'broken'],
    [{ mode: 'corrupt' }, 'timestamp-signature-wrong', 'broken'],
    [{ mode: 'certificate-missing' }, 'timestamp-without-certificate', 'unsupported'],
    [{ mode: 'certificate-differs' }, 'timestamp-certificate-differs', 'broken'],
    [{ mode: 'imprint-wrong' }, 'timestamp-other-signature', 'broken'],
    [{ mode: 'purpose-wrong' }, 'timestamp-purpose', 'untrusted'],
    [{ mode: 'purpose-uncritical' }, 'timestamp-purpose', 'note'],
    [{ mode: 'purpose-several' }, 'timestamp-purpose', 'note'],
  ] as const)('made with %o has the finding %s (%s)', async (options, code, weight) => {
    const { findings } = readTimestampToken(await authority.stamp(SIGNATURE, options), SIGNATURE);
    expect(findings).toMatchObject([{ code, weight }]);
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
  it.each<[string, TstInfoParts, boolean]>([
    ['a time of the 30th of February', { genTime: '20240230120000Z' }, false],
    ['a time without seconds', { genTime: '202406011200Z' }, false],
    ['a local time', { genTime: '20240601120000' }, false],
    ['a time of a thousand digits', { genTime: `20240601120000.${'1'.repeat(1000)}Z` }, false],
    ['version 2', { version: 2 }, false],
    ['no serial number', { serialNumber: new Uint8Array() }, false],
    ['an endless serial number', { serialNumber: Buffer.alloc(65, 1) }, false],
    ['the longest serial number', { serialNumber: Buffer.alloc(64, 1) }, true],
    ['something unknown at the end', { rest: [nullValue()] }, false],
    ['an unknown critical extension', { rest: [extensions(true)] }, false],
    ['an unknown extension', { rest: [extensions(false)] }, true],
    ['ordering and tsa', { rest: [encode(0x01, Uint8Array.of(0)), contextConstructed(0, nullValue())] }, true],
  ])('with %s', (_what, parts, isRead) => {
    const timestamp = readTimestampToken(buildToken({ info: buildTstInfo(SIGNATURE, parts) }), SIGNATURE);
    expect(codes(timestamp)).toEqual(isRead ? [] : ['timestamp-unreadable']);
    expect(timestamp.time !== undefined).toBe(isRead);
    expect(timestamp.signerName).toBe('Built TSA');
  });

  it('with an imprint of an algorithm that is not known is rejected', () => {
    const info = buildTstInfo(SIGNATURE, { algorithm: '1.2.840.113549.2.4' });
    const timestamp = readTimestampToken(buildToken({ info }), SIGNATURE);
    expect(codes(timestamp)).toContain('timestamp-algorithm-unknown');
    expect(timestamp.algorithm).toBeUndefined();
  });

  it.each([
    ['data', { contentType: '1.2.840.113549.1.7.1' }],
    ['nothing', { detached: true }],
    ['a SEQUENCE', { content: buildTstInfo(SIGNATURE) }],
    ['bytes after the TSTInfo', { info: Buffer.concat([buildTstInfo(SIGNATURE), Uint8Array.of(0)]) }],
  ])('that holds %s is no timestamp', (_what, parts) => {
    const timestamp = readTimestampToken(buildToken(parts), SIGNATURE);
    expect(codes(timestamp)).toContain('timestamp-unreadable');
    expect(timestamp.time).toBeUndefined();
  });

  it('of several signers is rejected, although the first is right', () => {
    const { contentInfo, tagged, signedData, signerInfos, signers } = readSignedDataFields(buildToken());
    const before = signedData.contents.subarray(0, signedData.contents.length - signerInfos.bytes.length);
    const doubled = encode(0x30, before, encode(0x31, signers[0].bytes, signers[0].bytes));
    const type = contentInfo.contents.subarray(0, contentInfo.contents.length - tagged.bytes.length);
    const token = sequence(type, contextConstructed(0, doubled));
    expect(codes(readTimestampToken(token, SIGNATURE))).toEqual(['timestamp-several-signers']);
  });

  it('with two signing times is rejected, with one it is not', () => {
    const certificate = signingCertificateV2(tokenSigner().der);
    const one = signingTime('240601120000Z');
    const read = (...times: (typeof one)[]) =>
      codes(readTimestampToken(buildToken({ attributes: [certificate, ...times] }), SIGNATURE));
    expect(read(one)).toEqual([]);
    expect(read(one, signingTime('240601120001Z'))).toEqual(['timestamp-attributes-damaged']);
  });
});

describe('the certificate that a token names (ESSCertID)', () => {
  const { der } = tokenSigner();
  const version1 = (digest: Uint8Array) => ({
    type: SIGNING_CERTIFICATE,
    value: sequence(sequence(sequence(octetString(digest)))),
  });
  const sha1 = createHash('sha1').update(der).digest();
  const sha512 = createHash('sha512').update(der).digest();
  const own = signingCertificateV2(der);
  const other = issue({ commonName: 'Other', key: testKey('rsa-2048') });

  it.each([
    ['by SHA-256, the default', [own]],
    ['by SHA-256, said aloud', [signingCertificateV2(der, { algorithm: '2.16.840.1.101.3.4.2.1' })]],
    ['by SHA-512', [signingCertificateV2(der, { algorithm: '2.16.840.1.101.3.4.2.3', digest: sha512 })]],
    ['by SHA-1', [version1(sha1)]],
    ['twice, in both versions', [own, version1(sha1)]],
    ['with issuer and serial number', [signingCertificateV2(der, { issuerSerial: issuerSerialOf(der) })]],
  ])("is its signer's: %s", (_how, attributes) => {
    expect(codes(readTimestampToken(buildToken({ attributes }), SIGNATURE))).toEqual([]);
  });

  const named = (parts: SigningCertificateParts) => [signingCertificateV2(der, parts)];
  const md5 = { algorithm: '1.2.840.113549.2.5', digest: createHash('md5').update(der).digest() };
  it.each([
    ['not named', []],
    ['named twice in one version', [own, own]],
    ['another', [signingCertificateV2(other.der)]],
    ['another in one of the versions', [own, version1(createHash('sha1').update(other.der).digest())]],
    ['of another serial number', named({ issuerSerial: issuerSerialOf(der, Buffer.from('020155', 'hex')) })],
    ['of another issuer', named({ issuerSerial: issuerSerialOf(other.der) })],
    ['of no issuer', named({ issuerSerial: sequence(sequence(), encode(0x02, Uint8Array.of(1))) })],
    ['named by MD5', named(md5)],
    ['named by an unknown digest', named({ algorithm: '1.2.3.4' })],
  ])('is rejected: %s', (_how, attributes) => {
    const { findings } = readTimestampToken(buildToken({ attributes }), SIGNATURE);
    expect(findings).toMatchObject([{ code: 'timestamp-certificate-differs', weight: 'broken' }]);
  });

  it.each([
    ['nothing at all', sequence()],
    ['an empty list', sequence(sequence())],
  ])('is %s: unreadable', (_what, value) => {
    const attributes = [{ type: own.type, value }];
    expect(codes(readTimestampToken(buildToken({ attributes }), SIGNATURE))).toContain('timestamp-unreadable');
  });
});

it.each([
  ['anything (anyExtendedKeyUsage)', ['2.5.29.37.0'], 'untrusted'],
  ['none', [], 'untrusted'],
])('the purpose of the certificate is %s', (_what, purposes, weight) => {
  const signer = makePki().leaf({ commonName: 'TSA', purposes });
  const { findings } = readTimestampToken(buildToken({ signer }), SIGNATURE);
  expect(findings).toMatchObject([{ code: 'timestamp-purpose', weight }]);
});

function extensions(critical: boolean): Uint8Array {
  const flag = critical ? [encode(0x01, Uint8Array.of(0xff))] : [];
  return contextConstructed(1, sequence(objectIdentifier('1.2.3.4'), ...flag, octetString(nullValue())));
}
