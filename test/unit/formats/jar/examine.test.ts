import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DIGEST_OID } from '../../../../src/asn1/algorithm-identifiers.ts';
import { TIMESTAMP_TOKEN } from '../../../../src/asn1/object-identifiers.ts';
import { contextConstructed, encode } from '../../../../src/asn1/write.ts';
import { readSignedDataFields } from '../../../../src/cms/signed-data-fields.ts';
import { replaceUnsignedAttributes } from '../../../../src/cms/unsigned-attributes.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { buildToken, buildTstInfo } from '../../timestamp/support/build-token.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from './interop/signed-again.ts';
import { contentsOf, jarOf, MANIFEST, renamed, repack, withManifest } from './simple-zip.ts';

const RSA = 'META-INF/TEST_PUB.RSA';
/** `jar/plain.jar`, signed by SHA-1 when that was still possible. */
const SIGNED_BY_SHA1 = readFixture('golden/sha1-rsa2048.jar');
const SHA1_RSA = 'META-INF/GOLDEN_R.RSA';

const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, jarOf('Manifest-Version: 1.0\r\nX: 1\r\n\r\n', 'a', 'b', 'c'), signer)).result;

const signatureOf = async (bytes: Buffer) =>
  (await (await openBytes(jar, bytes)).signatures())[0] ?? expect.unreachable();
const findingsOf = async (bytes: Buffer) => (await signatureOf(bytes)).examine();
const messagesOf = async (bytes: Buffer) => (await findingsOf(bytes)).map(({ code, message }) => `${code}: ${message}`);
const weightsOf = async (bytes: Buffer) => (await findingsOf(bytes)).map(({ code, weight }) => `${code} ${weight}`);

const manifestBy = (from: string | RegExp, to: string) => withManifest(signed, (text) => text.replace(from, to));
const again = (bytes: Buffer, change: (text: string) => string) => signAgain(bytes, signer, 'TEST_PUB', change);

const CONTRADICTING = `Name: a\r\nSHA-256-Digest: ${'A'.repeat(43)}=\r\n`;
const more = (...names: readonly string[]) => names.map((name) => ({ name }));

const MANIFEST_DIFFERS = 'manifest-digest-differs: The manifest';
const UNSIGNED = 'entries-unsigned: The';
const CONTENTS_DIFFER = 'content-digest-differs: The contents differ from the signed ones:';

const WRONG: Readonly<Record<string, readonly [bytes: () => Buffer, ...said: readonly string[]]>> = {
  'digests of sections alone': [() => again(signed, withoutWholeDigest)],
  'added files': [
    () => repack(signed, {}, more('d', 'e', 'META-INF/f')),
    `${UNSIGNED} signature does not cover d and 2 more.`,
  ],
  'a renamed file': [
    () => renamed(signed, /^a$/, 'z'),
    'entries-removed: Signed files were removed from the archive: a.',
    `${UNSIGNED} signature does not cover z.`,
  ],
  'other contents': [() => repack(signed, { b: 'other', c: 'other' }), `${CONTENTS_DIFFER} b and 1 more.`],
  'another section': [
    () => manifestBy('Name: b\r\n', 'Name: b\r\nY: 1\r\n'),
    `${MANIFEST_DIFFERS} has a section for b that differs from the signed one.`,
  ],
  'a section that is gone': [
    () => manifestBy(/Name: b\r\n.*\r\n\r\n/, ''),
    `${MANIFEST_DIFFERS} no longer has a section for b.`,
    `${UNSIGNED} manifest has no digest of b.`,
  ],
  'other main attributes': [() => manifestBy('X: 1', 'X: 2'), `${MANIFEST_DIFFERS} has a main section that differs`],
  'no manifest': [() => repack(signed, { [MANIFEST]: undefined }), 'manifest-missing: The archive has no manifest.'],
  'an unknown version': [() => again(signed, (text) => text.replace('1.0', '2.0')), 'signature-version-unknown: '],
  'a signature file that is none': [() => again(signed, () => 'no such file'), 'signature-file-unreadable: '],
  'bytes after the block': [
    () => repack(signed, { [RSA]: Buffer.concat([contentsOf(signed, RSA), Buffer.from('hidden')]) }),
    'bytes-after-signature: The signature in META-INF/TEST_PUB.RSA is followed by 6 bytes.',
  ],
  'two digests of a file that contradict each other': [
    () => again(manifestBy('Name: a\r\n', CONTRADICTING), (text) => text),
    `${MANIFEST_DIFFERS} has a section for a that differs from the signed one.`,
    `${CONTENTS_DIFFER} a.`,
  ],
  // Java verifies all signers.
  'a second signer that is wrong': [withWrongSigner, 'signature-value-wrong: '],
  'damaged contents': [withDamagedFile, 'zip-entry-damaged: The contents cannot be checked: the entry a '],
};

function withDamagedFile(): Buffer {
  const damaged = Buffer.from(signed);
  const data = signed.indexOf('a', signed.indexOf('PK\x03\x04', signed.indexOf(RSA), 'latin1')) + 1;
  damaged.writeUInt8(damaged.readUInt8(data + 1) ^ 0xff, data + 1);
  return damaged;
}

function withWrongSigner(): Buffer {
  const { contentInfo, signedData, signerInfos, signers } = readSignedDataFields(contentsOf(signed, RSA));
  const wrong = Buffer.from(signers[0].bytes);
  wrong.writeUInt8(wrong.readUInt8(wrong.length - 1) ^ 1, wrong.length - 1);
  const infos = encode(signerInfos.tag, signers[0].bytes, wrong);
  const before = signedData.contents.subarray(0, signerInfos.bytes.byteOffset - signedData.contents.byteOffset);
  const type = contentInfo.contents.subarray(0, 11);
  return repack(signed, { [RSA]: encode(0x30, type, contextConstructed(0, encode(0x30, before, infos))) });
}

it.each(Object.entries(WRONG))('a signature with %s', async (_, [bytes, ...said]) => {
  expect(await messagesOf(bytes())).toEqual(said.map((start) => expect.stringContaining(start)));
});

describe('digests that Java no longer takes', () => {
  const IGNORED =
    'digest-algorithm-weak: Only SHA-1, which Java ignores without a timestamp from before 2019, protects';

  it('are reported as weak where nothing else protects something', async () => {
    const files = 'META-INF/GOLDEN_R.SF, hello/Hello.class and 3 more.';
    expect(await messagesOf(SIGNED_BY_SHA1)).toEqual([`${IGNORED} the signature value, ${files}`]);
    const onlyManifest = (await signBytes(jar, SIGNED_BY_SHA1, signer)).result;
    expect(contentsOf(onlyManifest, MANIFEST).toString()).toContain('SHA1-Digest: ');
    expect(await messagesOf(onlyManifest)).toEqual([]);
    const bySha256 = signAgain(SIGNED_BY_SHA1, signer, 'GOLDEN_R', (text) => text);
    expect(await messagesOf(bySha256)).toEqual([`${IGNORED} ${files}`]);
  });

  const bySha1With = (type: string, value: Uint8Array) =>
    repack(SIGNED_BY_SHA1, {
      [SHA1_RSA]: replaceUnsignedAttributes(contentsOf(SIGNED_BY_SHA1, SHA1_RSA), { type, value }),
    });
  const valueIn = async (bytes: Buffer) => Buffer.from((await signatureOf(bytes)).value ?? []);

  it.each([
    ['20181231235959Z', 'warning'],
    ['20190101000000Z', 'broken'],
  ])('SHA-1 with a sound timestamp of %s, or in it alone, is %s', async (genTime, weight) => {
    const value = await valueIn(SIGNED_BY_SHA1);
    // The second one is as the authorities of that time signed.
    for (const algorithm of ['SHA256', 'SHA1'] as const) {
      const token = buildToken({ info: buildTstInfo(value, { genTime }), algorithm });
      expect(await weightsOf(bySha1With(TIMESTAMP_TOKEN, token))).toEqual([`digest-algorithm-weak ${weight}`]);
    }
    const ofAnother = buildToken({ info: buildTstInfo(Buffer.from('another'), { genTime }) });
    expect(await weightsOf(bySha1With(TIMESTAMP_TOKEN, ofAnother))).toEqual(['digest-algorithm-weak broken']);

    const current = await valueIn(signed);
    const digest = createHash('sha1').update(current).digest();
    const imprinted = buildToken({ info: buildTstInfo(current, { genTime, algorithm: DIGEST_OID.SHA1, digest }) });
    const itself = buildToken({ info: buildTstInfo(current, { genTime }), algorithm: 'SHA1' });
    for (const token of [imprinted, itself]) {
      const cms = replaceUnsignedAttributes(contentsOf(signed, RSA), { type: TIMESTAMP_TOKEN, value: token });
      const message = expect.stringContaining('protects the timestamp.');
      const expected = [{ code: 'digest-algorithm-weak', message, weight }];
      expect(await findingsOf(repack(signed, { [RSA]: cms }))).toEqual(expected);
    }
  });

  it.each(['1.3.6.1.4.1.311.3.3.1', '1.2.840.113549.1.9.6'])(
    'a timestamp under %s is not used, as in Java',
    async (type) => {
      const token = buildToken({ info: buildTstInfo(await valueIn(SIGNED_BY_SHA1), { genTime: '20181231235959Z' }) });
      const bytes = bySha1With(type, token);
      expect((await signatureOf(bytes)).timestamps).toEqual([]);
      expect(await weightsOf(bytes)).toEqual(['timestamp-not-read warning', 'digest-algorithm-weak broken']);
    },
  );
});

describe('of the archive is said', () => {
  const oddities = async (bytes: Buffer) =>
    (await (await openBytes(jar, bytes)).examine()).map(({ code, message, weight }) => [`${code} ${weight}`, message]);

  it('which halves of signatures there are, once for all of them', async () => {
    expect(await oddities(signed)).toEqual([]);
    const halves = ['X.SF', 'Y.SF', 'Z.EC', 'SIG-X'].map((name) => ({ name: `META-INF/${name}`, contents: 'x' }));
    expect(await oddities(repack(signed, {}, halves))).toEqual([
      ['signature-not-first warning', expect.stringContaining('treat the archive as unsigned.')],
      ['signature-block-missing warning', expect.stringContaining('for META-INF/X.SF and 1 more, so')],
      ['signature-file-missing warning', expect.stringContaining('There is no signature file for META-INF/Z.EC, so')],
      ['signature-kind-unknown warning', expect.stringContaining('META-INF/SIG-X')],
    ]);
  });

  it('what is wrong with the manifest, or with a file of a signature', async () => {
    const codes = async (bytes: Buffer) => (await oddities(bytes)).map(([code]) => code);
    expect(await codes(renamed(signed, 'MANIFEST.MF', 'manifest.mf'))).toEqual(['manifest-misnamed broken']);
    const last = [{ name: MANIFEST, contents: contentsOf(signed, MANIFEST) }];
    expect(await codes(repack(signed, { [MANIFEST]: undefined }, last))).toEqual(['signature-not-first warning']);
    const bytes = repack(signed, {}, [{ name: 'META-INF/SIG-X', contents: 'some text' }]);
    const at = bytes.indexOf('META-INF/SIG-X') + 'META-INF/SIG-X'.length;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
    expect(await codes(bytes)).toContain('zip-entry-damaged broken');
  });
});

it.each([
  ['preamble-unfixed.jar', /^preamble: 35 bytes/],
  ['archive-comment.jar', /^comment: 23 bytes$/],
  ['zip64.jar', /^zip64: 56 bytes$/],
  ['trailing-bytes.jar', /^bytes after the archive: \d+$/],
  ['no-manifest.jar', /^manifest: none$/],
])('the layout of %s says %s', async (name, line) => {
  const details = (await openBytes(jar, readFixture(`jar/${name}`))).layout();
  expect(details.map((detail) => `${detail.name}: ${detail.value}`)).toContainEqual(expect.stringMatching(line));
});
