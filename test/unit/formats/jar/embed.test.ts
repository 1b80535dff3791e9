import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { readArchive } from '../../../../src/zip/archive.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../support/fixtures.ts';
import { signBytes } from '../support/sign-bytes.ts';
import { contentsOf, MANIFEST, namesIn, type SimpleEntry, zip } from './simple-zip.ts';

const OWN = [MANIFEST, 'META-INF/TEST_PUB.SF', 'META-INF/TEST_PUB.RSA'];
/** Extra field 0xCAFE, without data. */
const CAFE = Buffer.from('feca0000', 'hex');
/** One without an owner. */
const OTHER = Buffer.from('34120300616263', 'hex');

const signer = await makeThrowawaySigner();

const sign = async (bytes: Buffer) => (await signBytes(jar, bytes, signer)).result;
const signZip = (...entries: readonly SimpleEntry[]) => sign(zip(entries));

/** Of the entry in this place of the directory: its extra fields in the local header and in the directory. */
async function extraFields(bytes: Buffer, place: number): Promise<readonly [Buffer, Buffer]> {
  const { entries, directory } = await readArchive(memorySource(bytes));
  const entry = entries[place];
  if (entry === undefined) throw new Error('there is no such entry');
  const local = entry.offset + 30 + bytes.readUInt16LE(entry.offset + 26);
  const central = entry.recordStart + 46 + directory.readUInt16LE(entry.recordStart + 28);
  const centralLength = directory.readUInt16LE(entry.recordStart + 30);
  return [bytes.subarray(local, entry.dataOffset), directory.subarray(central, central + centralLength)];
}

/** With a right digest: nothing must be added to it. */
function completeManifestOf(contents: string): string {
  return `X: 1\n\nName: a\nSHA-256-Digest: ${createHash('sha256').update(contents).digest('base64')}\n\n`;
}

it('META-INF/, the manifest and the signature come first, and all other entries keep their order', async () => {
  for (const name of ['plain.jar', 'manifest-last.jar', 'no-manifest.jar', 'old-signature-leftovers.jar', 'web.war']) {
    const bytes = readFixture(`jar/${name}`);
    const before = await readArchive(memorySource(bytes));
    const after = await readArchive(memorySource(await sign(bytes)));
    const first = before.byName.has('META-INF/') ? ['META-INF/', ...OWN] : OWN;
    const rest = before.inFile
      .map((entry) => entry.name)
      .filter((each) => !/^meta-inf\/([^/]*\.(mf|sf|rsa))?$/i.test(each));
    expect([name, after.inFile.map((entry) => entry.name)]).toEqual([name, [...first, ...rest]]);
  }
});

describe('the manifest', () => {
  it('that needs nothing is moved, record and all', async () => {
    const manifest = { name: MANIFEST, contents: completeManifestOf('a'), isStored: true, extra: OTHER };
    const bytes = zip([{ name: 'a', contents: 'a' }, { name: 'META-INF/', isStored: true, extra: OTHER }, manifest]);
    const [, metaInf, record] = (await readArchive(memorySource(bytes))).entries;
    const result = await sign(bytes);
    expect(namesIn(result)).toEqual(['META-INF/', ...OWN, 'a']);
    const start = bytes.subarray(metaInf?.offset, record?.end);
    expect(result.subarray(0, start.length).equals(start)).toBe(true);
    expect(await extraFields(result, 1)).toEqual([OTHER, OTHER]);
  });

  it('that needs something is written again, deflated', async () => {
    const manifest = { name: MANIFEST, contents: 'X: 1\n\n', isStored: true, extra: OTHER };
    const result = await signZip({ name: 'a', contents: 'a' }, manifest);
    expect(namesIn(result)).toEqual([...OWN, 'a']);
    expect(contentsOf(result, MANIFEST).toString()).toBe(completeManifestOf('a'));
    expect(result.readUInt16LE(8)).toBe(8);
    expect(await extraFields(result, 0)).toEqual([Buffer.alloc(0), Buffer.alloc(0)]);
  });
});

describe('the field 0xCAFE', () => {
  const a = { name: 'a', contents: 'a' };
  const manifest = { name: MANIFEST, contents: 'X: 1\n\n' };
  const NONE = Buffer.alloc(0);
  const folder = { name: 'META-INF/', extra: CAFE, isStored: true };

  const both = Buffer.concat([OTHER, CAFE]);

  it.each([
    ['is on the new manifest where the old one had it', [{ ...manifest, extra: both }, a], [CAFE]],
    ['stays on META-INF/', [folder, manifest, a], [CAFE, NONE]],
    ['is copied from another first entry, which keeps it', [{ ...a, extra: CAFE }, manifest], [CAFE, NONE, NONE, CAFE]],
    ['is not taken from another entry than the first', [manifest, { ...a, extra: CAFE }], [NONE]],
  ])('%s', async (_, entries, expected) => {
    const result = await signZip(...entries);
    for (const [place, field] of expected.entries()) expect(await extraFields(result, place)).toEqual([field, field]);
  });
});
