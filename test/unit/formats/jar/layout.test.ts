import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { ownNameOf } from '../../../../src/formats/jar/layout.ts';
import { mainJava } from '../../../support/programs/java.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { runReader } from '../../../system/interop/java/readers.ts';
import { seededRandom } from '../../zip/support/random.ts';
import { buildZip, stored } from '../../zip/support/zip-builder.ts';
import { warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, jarOf, MANIFEST, namesIn, zip } from './simple-zip.ts';

const folder = folderForAll();

const COVERED = [
  ...['a/B.class', 'MANIFEST.MF', 'X.SF', 'META-INF/LICENSE', 'META-INF/INDEX.LIST', 'META-INF/X.SF.txt'],
  ...['META-INF/services/java.lang.Runnable', 'META-INF/versions/9/a/B.class', 'META-INF/versions/9/META-INF/X.SF'],
  ...['META-INF/sub/X.SF', 'META-INF/sub/X.RSA', 'META-INF/sub/MANIFEST.MF', 'META-INF/sub/SIG-X', 'META-INF/XSF'],
  ...['META-INF/MANIFEST.MF.bak', 'META-INF/X.P7', 'META-INF/SIGX', 'META-INF/SIG-X.json', 'META-INF/SIG-X.'],
  ...['META-INF/SIG-X.a-b', 'META-INF/SIG-X.ä', 'META-INF2/X.SF', 'xMETA-INF/X.SF', 'META-INF/SIG-.json'],
];
const OWN = [
  ...['META-INF/X.SF', 'META-INF/x.sf', 'meta-inf/x.Sf', 'META-INF/.SF', 'META-INF/SF.SF.SF', 'META-INF/X.RSA'],
  ...['META-INF/X.dsa', 'META-INF/X.EC', 'META-INF/SIG-', 'META-INF/SIG-X', 'META-INF/sig-x', 'META-INF/SIG-X.A'],
  ...['META-INF/SIG-X.a1z', 'META-INF/SIG-X.json.txt'],
  // Letters that are S and I in upper case.
  ...['META-INF/X.ſf', 'META-INF/SıG-X'],
];

it('a signature covers the names that Java signs: those of the table, and random ones', async () => {
  const names = [...COVERED, ...OWN, ...randomNames(3000)];
  const file = join(folder, 'names.txt');
  writeFileSync(file, names.map((name) => `${name}\n`).join(''));
  const options = ['--add-exports', 'java.base/sun.security.util=ALL-UNNAMED'];
  const said = (await runReader(mainJava(), [...options, 'SigningRelated', file])).match(/^(true|false)$/gm) ?? [];
  expect(said).toHaveLength(names.length);
  expect(names.filter((name, index) => (ownNameOf(name) !== undefined) !== (said[index] === 'true'))).toEqual([]);
  expect(said.filter((word) => word === 'true').length).toBeGreaterThan(300);
});

function randomNames(count: number): readonly string[] {
  const random = seededRandom(11);
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const starts = ['META-INF/', 'META-INF/', 'META-INF/', 'meta-inf/', 'Meta-Inf/sub/', 'META-INF', ''];
  const middles = ['', 'SIG-', 'sig-', 'X', 'a.b', 'MANIFEST', 'ä', 'x/', 'SIG'];
  const ends = ['', '.', '.SF', '.sf', '.RSA', '.Dsa', '.ec', '.MF', '.a', '.ab1', '.abcd', '.-', '.é', '/', ' .SF'];
  return Array.from(
    { length: count },
    () => `${pick(starts)}${pick(middles)}${pick(middles)}${pick(ends)}${random(9) === 0 ? pick(ends) : ''}`,
  );
}

const MAIN = 'Manifest-Version: 1.0\n\n';
const openJar = (manifest: string, ...names: readonly string[]) =>
  openBytes(jar, jarOf(manifest, ...names.map((name) => ({ name }))));

describe('names that are rejected', () => {
  it.each(['/a', '//a', './a', '././a', '/META-INF/MANIFEST.MF', './META-INF/X.SF'])(
    'the name %s, which Java looks up as another',
    async (name) => {
      await expect(openJar(MAIN, name)).rejects.toMatchObject({ code: 'zip-name-refused', category: 'local' });
    },
  );

  it.each(['.a', '..a', '.../a', 'a./b', '...'])('not: %s', async (name) => {
    await expect(openJar(MAIN, name)).resolves.toBeDefined();
  });

  it('an archive whose ZIP64 locator does not count what is before it, because Java does not open it', async () => {
    const zip64 = (offsets: 'file' | 'archive') =>
      openBytes(jar, buildZip({ entries: [stored('a')], preamble: '#!/bin/sh\n', zip64: true, offsets }));
    await expect(zip64('archive')).rejects.toMatchObject({ code: 'zip-unsupported' });
    await expect(zip64('file')).resolves.toBeDefined();
  });

  it('two manifests, two signature files of one name in other cases, and folders with contents', async () => {
    const refusal = { code: 'zip-ambiguous', category: 'local' };
    await expect(openJar(MAIN, 'meta-inf/manifest.mf')).rejects.toMatchObject(refusal);
    await expect(openJar(MAIN, 'META-INF/X.SF', 'META-INF/x.sf')).rejects.toMatchObject(refusal);
    await expect(openBytes(jar, jarOf(MAIN, 'a/'))).rejects.toMatchObject({ code: 'zip-unsupported' });
  });
});

const lower = (name: string) => zip([{ name, contents: MAIN, isStored: true }, { name: 'a' }]);

it.each<[string, Buffer, ...warnings: RegExp[]]>([
  ['nothing in a JAR that is as it should be', jarOf(MAIN, 'a', 'META-INF/SIG-X')],
  ['no manifest', zip([{ name: 'a' }]), /has no manifest/],
  ['a manifest in lower case', lower('meta-inf/manifest.mf'), /meta-inf\/manifest\.mf/],
  ['nothing to sign', jarOf(MAIN), /no file to sign/],
  ['a section without a file', jarOf('X: 1\n\nName: gone\n\n', 'a'), /gone/],
  ['nothing, of sections that are no files', jarOf('X: 1\n\nName: f/\n\nName: https://example.com/a.class\n\n', 'a')],
  ['a stored entry whose size comes after it', readFixture('jar/stored-descriptor.jar'), /stream readers/],
  ['bytes after the archive', readFixture('jar/trailing-bytes.jar'), /3 bytes/],
])('warns of %s', async (_, bytes, ...warnings) => {
  const expected = warnings.map((warning) => expect.stringMatching(warning));
  expect(await warningsOf(await openBytes(jar, bytes))).toEqual(expected);
});

it('makes META-INF/MANIFEST.MF of a manifest in lower case, with its contents', async () => {
  const signer = await makeThrowawaySigner();
  for (const name of ['meta-inf/manifest.mf', 'META-INF/Manifest.mf']) {
    const { result } = await signBytes(jar, lower(name), signer);
    expect(namesIn(result)).toEqual([MANIFEST, 'META-INF/TEST_PUB.SF', 'META-INF/TEST_PUB.RSA', 'a']);
    expect(contentsOf(result, MANIFEST).toString()).toMatch(/^Manifest-Version: 1\.0\n\nName: a\n/);
    expect(await warningsOf(await openBytes(jar, result))).toEqual([]);
  }
});
