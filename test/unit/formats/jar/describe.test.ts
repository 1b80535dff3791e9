/** Holds what is said of a JAR round its signatures: what none of them covers, where things are, and what each says of itself. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { signAgain } from './interop/signed-again.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const SF = 'META-INF/TEST_PUB.SF';
const RSA = 'META-INF/TEST_PUB.RSA';
const plain = zip([
  { name: MANIFEST, contents: 'Manifest-Version: 1.0\r\nX: 1\r\n\r\n' },
  { name: 'a', contents: 'a' },
  { name: 'b', contents: 'b' },
  { name: 'c', contents: 'c' },
]);

const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, plain, signer)).result;

describe('of the archive is said', () => {
  async function oddities(bytes: Buffer): Promise<readonly (readonly string[])[]> {
    return (await (await openBytes(jar, bytes)).examine()).map(({ code, message, weight }) => [code, weight, message]);
  }

  it('nothing when there is nothing', async () => {
    expect(await oddities(signed)).toEqual([]);
    expect(await oddities(plain)).toEqual([]);
  });

  it('bytes that no signature covers: before, between and after the entries', async () => {
    const codes = async (name: string) => {
      const { result } = await signBytes(jar, readFixture(`jar/${name}`), signer);
      return (await oddities(result)).map(([code, weight]) => [code, weight]);
    };
    expect(await codes('preamble-unfixed.jar')).toEqual([['bytes-before-archive', 'warning']]);
    expect(await codes('gaps.jar')).toEqual([['bytes-between-entries', 'note']]);
    expect(await codes('trailing-bytes.jar')).toEqual([['bytes-after-archive', 'note']]);
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
        "Manifest and signatures do not come first: Java's stream readers take the archive as unsigned.",
      ],
      [
        'signature-block-missing',
        'warning',
        'There is no signature block for META-INF/X.SF and 1 more: it is not a signature.',
      ],
      ['signature-file-missing', 'warning', 'There is no signature file for META-INF/Z.EC: it is not a signature.'],
      [
        'signature-kind-unknown',
        'warning',
        'META-INF/SIG-X is named as a signature, and of no kind that is known; no signature covers it.',
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
