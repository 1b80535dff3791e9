/** Holds what is found wrong with the signatures of a JAR, each finding and no other, and what is said of the archive around them. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DIGEST_OID } from '../../../../src/asn1/algorithm-identifiers.ts';
import { TIMESTAMP_TOKEN } from '../../../../src/asn1/object-identifiers.ts';
import { contextConstructed, encode } from '../../../../src/asn1/write.ts';
import { readSignedDataFields } from '../../../../src/cms/signed-data-fields.ts';
import { replaceUnsignedAttributes } from '../../../../src/cms/unsigned-attributes.ts';
import type { FoundSignature } from '../../../../src/format/signature.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { buildToken, buildTstInfo } from '../../timestamp/support/build-token.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from './interop/signed-again.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const SF = 'META-INF/TEST_PUB.SF';
const RSA = 'META-INF/TEST_PUB.RSA';
/** `jar/plain.jar`, signed by SHA-1 when that was still possible. */
const SIGNED_BY_SHA1 = readFixture('golden/sha1-rsa2048.jar');
const SHA1_RSA = 'META-INF/GOLDEN_R.RSA';
const plain = zip([
  { name: MANIFEST, contents: 'Manifest-Version: 1.0\r\nX: 1\r\n\r\n' },
  { name: 'a', contents: 'a' },
  { name: 'b', contents: 'b' },
  { name: 'c', contents: 'c' },
]);

const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, plain, signer)).result;

async function signatureOf(bytes: Buffer): Promise<FoundSignature | undefined> {
  return (await (await openBytes(jar, bytes)).signatures())[0];
}

async function messagesOf(bytes: Buffer): Promise<readonly string[]> {
  const signature = await signatureOf(bytes);
  return (await signature?.examine())?.map(({ code, message }) => `${code}: ${message}`) ?? [];
}

const withManifest = (bytes: Buffer, change: (text: string) => string) =>
  repack(bytes, { [MANIFEST]: change(contentsOf(bytes, MANIFEST).toString()) });
const again = (bytes: Buffer, change: (text: string) => string) => signAgain(bytes, signer, 'TEST_PUB', change);

describe('no finding about a signature', () => {
  it('when it has the digests of sections alone', async () => {
    expect(await messagesOf(again(signed, withoutWholeDigest))).toEqual([]);
  });
});

describe('a finding about a signature', () => {
  const WRONG: Readonly<Record<string, readonly [bytes: () => Buffer, said: readonly string[]]>> = {
    'that files were added': [
      () => repack(signed, {}, [{ name: 'd' }, { name: 'e' }, { name: 'META-INF/f' }]),
      ['entries-unsigned: The signature does not cover d and 2 more.'],
    ],
    'that files were taken out': [
      () => repack(signed, { a: undefined, b: undefined }),
      ['entries-removed: Signed files were removed from the archive: a and 1 more.'],
    ],
    'that a file was renamed': [
      () => zip(unzip(signed).map(({ name, contents }) => ({ name: name === 'a' ? 'z' : name, contents }))),
      [
        'entries-removed: Signed files were removed from the archive: a.',
        'entries-unsigned: The signature does not cover z.',
      ],
    ],
    'that contents differ': [
      () => repack(signed, { b: 'other', c: 'other' }),
      ['content-digest-differs: The contents differ from the signed ones: b and 1 more.'],
    ],
    'that a section differs': [
      () => withManifest(signed, (text) => text.replace('Name: b\r\n', 'Name: b\r\nY: 1\r\n')),
      ['manifest-digest-differs: The manifest has a section for b that differs from the signed one.'],
    ],
    'that a section is gone': [
      () => withManifest(signed, (text) => text.replace(/Name: b\r\n.*\r\n\r\n/, '')),
      [
        'manifest-digest-differs: The manifest no longer has a section for b.',
        'entries-unsigned: The manifest has no digest of b.',
      ],
    ],
    'that the main attributes differ': [
      () => withManifest(signed, (text) => text.replace('X: 1', 'X: 2')),
      ['manifest-digest-differs: The manifest has a main section that differs from the signed one.'],
    ],
    'that there is no manifest': [
      () => repack(signed, { [MANIFEST]: undefined }),
      ['manifest-missing: The archive has no manifest.'],
    ],
    'that its version is unknown': [
      () => again(signed, (text) => text.replace('Signature-Version: 1.0', 'Signature-Version: 2.0')),
      ['signature-version-unknown: META-INF/TEST_PUB.SF does not have Signature-Version 1.0, the only known version.'],
    ],
    'that the signature file was changed': [
      () => repack(signed, { [SF]: `${contentsOf(signed, SF)}\r\n` }),
      ['message-digest-differs: The signed messageDigest differs from the digest of the content.'],
    ],
    'that the signature file is no such file': [
      () => again(signed, () => 'no such file'),
      ['signature-file-unreadable: META-INF/TEST_PUB.SF cannot be read.'],
    ],
    'that bytes follow the block': [
      () => repack(signed, { [RSA]: Buffer.concat([contentsOf(signed, RSA), Buffer.from('hidden')]) }),
      ['bytes-after-signature: The signature in META-INF/TEST_PUB.RSA is followed by 6 bytes.'],
    ],
    'that two digests of a file contradict each other': [
      () => again(doubled(), (text) => text),
      [
        'manifest-digest-differs: The manifest has a section for a that differs from the signed one.',
        'content-digest-differs: The contents differ from the signed ones: a.',
      ],
    ],
  };
  const doubled = () =>
    withManifest(signed, (text) => text.replace('Name: a\r\n', `Name: a\r\nSHA-256-Digest: ${'A'.repeat(43)}=\r\n`));

  it.each(Object.entries(WRONG))('%s', async (_, [bytes, said]) => {
    expect(await messagesOf(bytes())).toEqual(said);
  });

  it('that the block cannot be read, with the reason', async () => {
    const [message] = await messagesOf(repack(signed, { [RSA]: 'no signature' }));
    expect(message).toMatch(/^cms-malformed: The signature block cannot be read: /);
  });

  it('that contents are damaged', async () => {
    const text = signed.toString('latin1');
    const record = text.indexOf('PK\x03\x04', text.indexOf('META-INF/TEST_PUB.RSA'));
    const damaged = Buffer.from(signed);
    const data = record + 30 + 1;
    expect(text.slice(record + 30, data)).toBe('a');
    damaged.writeUInt8(damaged.readUInt8(data + 1) ^ 0xff, data + 1);
    const [message] = await messagesOf(damaged);
    expect(message).toMatch(/^zip-entry-damaged: The contents cannot be checked: the entry a /);
  });

  it('what is wrong with any of its signers: Java verifies all', async () => {
    const { contentInfo, signedData, signerInfos, signers } = readSignedDataFields(contentsOf(signed, RSA));
    const wrong = Buffer.from(signers[0].bytes);
    wrong.writeUInt8(wrong.readUInt8(wrong.length - 1) ^ 1, wrong.length - 1);
    const infos = encode(signerInfos.tag, signers[0].bytes, wrong);
    const before = signedData.contents.subarray(0, signerInfos.bytes.byteOffset - signedData.contents.byteOffset);
    const type = contentInfo.contents.subarray(0, 11);
    const cms = encode(0x30, type, contextConstructed(0, encode(0x30, before, infos)));
    expect(await messagesOf(repack(signed, { [RSA]: cms }))).toEqual([
      "signature-value-wrong: The signature value does not match the signer's key.",
    ]);
  });
});

describe('digests that Java no longer takes', () => {
  const weak = (...messages: readonly string[]) => messages.map((message) => `digest-algorithm-weak: ${message}`);

  it('are reported as weak: SHA-1 alone', async () => {
    expect(await messagesOf(SIGNED_BY_SHA1)).toEqual(
      weak(
        'Only SHA-1, which Java ignores without a timestamp from before 2019, protects the signature value, META-INF/GOLDEN_R.SF, hello/Hello.class and 3 more.',
      ),
    );
  });

  it('are said to be weak where only the signature file has them, or only one section of the manifest', async () => {
    const onlyManifest = (await signBytes(jar, SIGNED_BY_SHA1, signer)).result;
    expect(contentsOf(onlyManifest, MANIFEST).toString()).toContain('SHA1-Digest: ');
    expect(await messagesOf(onlyManifest)).toEqual([]);
    expect(await messagesOf(signAgain(SIGNED_BY_SHA1, signer, 'GOLDEN_R', (text) => text, 'SHA256'))).toEqual(
      weak(
        'Only SHA-1, which Java ignores without a timestamp from before 2019, protects META-INF/GOLDEN_R.SF, hello/Hello.class and 3 more.',
      ),
    );
  });

  it('do no harm next to others, and are checked anyway', async () => {
    const withMd5 = (digest: string) =>
      zip([
        { name: MANIFEST, contents: `X: 1\r\n\r\nName: a\r\nMD5-Digest: ${digest}\r\n\r\n` },
        { name: 'a', contents: 'a' },
      ]);
    const { result } = await signBytes(jar, withMd5('AAAA'), signer);
    expect(await messagesOf(result)).toEqual([]);
  });

  it('MD5 is weak whatever the time is', async () => {
    const md5 = zip([
      { name: MANIFEST, contents: 'X: 1\r\n\r\nName: a\r\nMD5-Digest: DMF1ucDxtqgxw5niaXcmYQ==\r\n\r\n' },
      { name: 'a', contents: 'a' },
    ]);
    const { result } = await signBytes(jar, md5, signer);
    const stripped = withManifest(result, (text) => text.replace(/SHA-256-Digest: .*\r\n/, ''));
    const digestOf = (text: Buffer) => createHash('sha256').update(text).digest('base64');
    const section = contentsOf(stripped, MANIFEST).subarray(8);
    const digest = digestOf(section);
    const whole = digestOf(contentsOf(stripped, MANIFEST));
    const bytes = again(stripped, (text) =>
      text.replace(/(SHA-256-Digest-Manifest: ).*/, `$1${whole}`).replace(/(SHA-256-Digest: ).*/, `$1${digest}`),
    );
    expect(await messagesOf(bytes)).toEqual(weak('Only MD5, which Java ignores, protects a.'));
  });

  it.each([
    ['20181231235959Z', 'warning'],
    ['20190101000000Z', 'broken'],
  ])('SHA-1 with a sound timestamp of %s is %s', async (genTime, weight) => {
    const value = (await signatureOf(SIGNED_BY_SHA1))?.value ?? Buffer.alloc(0);
    const block = contentsOf(SIGNED_BY_SHA1, SHA1_RSA);
    const stamped = (token: Uint8Array) =>
      repack(SIGNED_BY_SHA1, {
        [SHA1_RSA]: replaceUnsignedAttributes(block, { type: TIMESTAMP_TOKEN, value: token }),
      });
    const findingsWith = async (token: Uint8Array) => {
      const [signature] = await (await openBytes(jar, stamped(token))).signatures();
      return (await signature?.examine())?.map((finding) => [finding.code, finding.weight]);
    };
    const token = buildToken({ info: buildTstInfo(value, { genTime }) });
    expect(await findingsWith(token)).toEqual([['digest-algorithm-weak', weight]]);
    // As the authorities of that time signed.
    const tokenBySha1 = buildToken({ info: buildTstInfo(value, { genTime }), algorithm: 'SHA1' });
    expect(await findingsWith(tokenBySha1)).toEqual([['digest-algorithm-weak', weight]]);
    const ofAnother = buildToken({ info: buildTstInfo(Buffer.from('another'), { genTime }) });
    expect(await findingsWith(ofAnother)).toEqual([['digest-algorithm-weak', 'broken']]);
  });

  it.each(['1.3.6.1.4.1.311.3.3.1', '1.2.840.113549.1.9.6'])(
    'a timestamp under %s is reported and not used, as Java does not read it',
    async (type) => {
      const value = (await signatureOf(SIGNED_BY_SHA1))?.value ?? Buffer.alloc(0);
      const token = buildToken({ info: buildTstInfo(value, { genTime: '20181231235959Z' }) });
      const cms = replaceUnsignedAttributes(contentsOf(SIGNED_BY_SHA1, SHA1_RSA), { type, value: token });
      const signature = await signatureOf(repack(SIGNED_BY_SHA1, { [SHA1_RSA]: cms }));
      expect(signature?.timestamps).toEqual([]);
      expect((await signature?.examine())?.map(({ code, weight }) => `${code} ${weight}`)).toEqual([
        'timestamp-not-read warning',
        'digest-algorithm-weak broken',
      ]);
    },
  );

  it.each([
    ['20181231235959Z', 'warning'],
    ['20190101000000Z', 'broken'],
  ])('SHA-1 in the timestamp of %s alone is %s', async (genTime, weight) => {
    const value = (await signatureOf(signed))?.value ?? Buffer.alloc(0);
    const digest = createHash('sha1').update(value).digest();
    const imprinted = buildToken({ info: buildTstInfo(value, { genTime, algorithm: DIGEST_OID.SHA1, digest }) });
    const itself = buildToken({ info: buildTstInfo(value, { genTime }), algorithm: 'SHA1' });
    for (const token of [imprinted, itself]) {
      const cms = replaceUnsignedAttributes(contentsOf(signed, RSA), { type: TIMESTAMP_TOKEN, value: token });
      const findings = await (await signatureOf(repack(signed, { [RSA]: cms })))?.examine();
      expect(findings).toEqual([
        { code: 'digest-algorithm-weak', message: expect.stringContaining('protects the timestamp.'), weight },
      ]);
    }
  });
});

describe('of the archive is said', () => {
  async function oddities(bytes: Buffer): Promise<readonly (readonly string[])[]> {
    return (await (await openBytes(jar, bytes)).examine()).map(({ code, message, weight }) => [code, weight, message]);
  }

  it('nothing when there is nothing', async () => {
    expect(await oddities(signed)).toEqual([]);
    expect(await oddities(plain)).toEqual([]);
  });

  it('which halves of signatures there are, once for all of them', async () => {
    const bytes = repack(signed, {}, [
      { name: 'META-INF/X.SF', contents: 'x' },
      { name: 'META-INF/Y.SF', contents: 'x' },
      { name: 'META-INF/Z.EC', contents: 'x' },
      { name: 'META-INF/SIG-X', contents: 'x' },
    ]);
    expect(await oddities(bytes)).toEqual([
      [
        'signature-not-first',
        'warning',
        "The manifest and the signatures do not come first, so Java's stream readers treat the archive as unsigned.",
      ],
      [
        'signature-block-missing',
        'warning',
        'There is no signature block for META-INF/X.SF and 1 more, so it is not a signature.',
      ],
      ['signature-file-missing', 'warning', 'There is no signature file for META-INF/Z.EC, so it is not a signature.'],
      [
        'signature-kind-unknown',
        'warning',
        'META-INF/SIG-X has the name of a signature of an unknown kind; no signature covers it.',
      ],
    ]);
  });

  it('that Java does not know the manifest by its name', async () => {
    const bytes = zip(
      unzip(signed).map(({ name, contents }) => ({ name: name.replace('MANIFEST.MF', 'manifest.mf'), contents })),
    );
    expect((await oddities(bytes)).map(([code, weight]) => [code, weight])).toEqual([['manifest-misnamed', 'broken']]);
  });

  it('that the manifest does not come first', async () => {
    const bytes = repack(signed, { [MANIFEST]: undefined }, [
      { name: MANIFEST, contents: contentsOf(signed, MANIFEST) },
    ]);
    expect((await oddities(bytes)).map(([code, weight]) => [code, weight])).toEqual([
      ['signature-not-first', 'warning'],
    ]);
  });

  it('that a file of a signature holds more than it says', async () => {
    const bytes = Buffer.from(repack(signed, {}, [{ name: 'META-INF/SIG-X', contents: 'some text' }]));
    const at = bytes.indexOf('META-INF/SIG-X') + 'META-INF/SIG-X'.length;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
    expect((await oddities(bytes)).map(([code, weight]) => [code, weight])).toContainEqual([
      'zip-entry-damaged',
      'broken',
    ]);
  });
});

describe('the layout reports', () => {
  it('where things are', async () => {
    const { result } = await signBytes(jar, readFixture('jar/preamble-unfixed.jar'), signer);
    const details = (await openBytes(jar, result)).layout();
    expect(details.map(({ name }) => name)).toEqual([
      'entries',
      'directory',
      'preamble',
      'manifest',
      'signature TEST_PUB',
    ]);
    const signature = details.at(-1)?.value;
    expect(signature).toMatch(/^META-INF\/TEST_PUB\.SF at \d+, \d+ bytes; META-INF\/TEST_PUB\.RSA at \d+, \d+ bytes$/);
  });

  it('comment, ZIP64 records and bytes after the archive', async () => {
    const named = async (name: string) =>
      (await openBytes(jar, readFixture(`jar/${name}`))).layout().map((detail) => `${detail.name}: ${detail.value}`);
    expect(await named('archive-comment.jar')).toContain('comment: 23 bytes');
    expect(await named('zip64.jar')).toContain('zip64: 56 bytes');
    expect(await named('trailing-bytes.jar')).toContainEqual(expect.stringMatching(/^bytes after the archive: \d+$/));
    expect(await named('no-manifest.jar')).toContain('manifest: none');
  });
});

describe('the details of a signature tell', () => {
  it('what its signature file says, and how much it covers', async () => {
    const longer = `${contentsOf(signed, MANIFEST)}\r\n`;
    const added = repack(signed, { [MANIFEST]: longer }, [{ name: 'd', contents: 'd' }]);
    const [signature] = await (await openBytes(jar, added)).signatures();
    expect(signature).toMatchObject({
      location: RSA,
      algorithm: 'SHA256',
      signer: { name: 'Test Publisher' },
      timestamps: [],
    });
    expect(await signature?.details()).toEqual([
      { name: 'signature name', value: 'TEST_PUB' },
      { name: 'signature file', value: SF },
      { name: 'signature version', value: '1.0' },
      { name: 'created by', value: 'codesign-remote' },
      { name: 'manifest digest (SHA-256)', value: expect.stringMatching(/^.{44} \(differs\)$/) },
      { name: 'files covered', value: '3 of 4' },
    ]);
  });

  it('its name alone when the rest cannot be read', async () => {
    const [signature] = await (
      await openBytes(
        jar,
        signAgain(signed, signer, 'TEST_PUB', () => 'no such file'),
      )
    ).signatures();
    expect((await signature?.details())?.map(({ name }) => name)).toEqual(['signature name', 'signature file']);
  });
});
