/** Holds what is what in a JAR: what a signature covers, what is a signature's own, what is rejected and what is odd. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { ownNameOf, readLayout } from '../../../../src/formats/jar/layout.ts';
import { mainJava } from '../../../support/programs/java.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { runReader } from '../../../system/interop/java/readers.ts';
import { warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { randomNumbers } from './interop/random.ts';
import { type SimpleEntry, unzip, zip } from './simple-zip.ts';

/** Entry → whether a signature covers it. */
const COVERED: Readonly<Record<string, boolean>> = {
  'a/B.class': true,
  'MANIFEST.MF': true,
  'X.SF': true,
  'META-INF/LICENSE': true,
  'META-INF/INDEX.LIST': true,
  'META-INF/services/java.lang.Runnable': true,
  'META-INF/versions/9/a/B.class': true,
  'META-INF/versions/9/META-INF/X.SF': true,
  'META-INF/sub/X.SF': true,
  'META-INF/sub/X.RSA': true,
  'META-INF/sub/MANIFEST.MF': true,
  'META-INF/sub/SIG-X': true,
  'META-INF/X.SF.txt': true,
  'META-INF/XSF': true,
  'META-INF/MANIFEST.MF.bak': true,
  'META-INF/X.P7': true,
  'META-INF/SIGX': true,
  'META-INF/SIG-X.json': true,
  'META-INF/SIG-X.': true,
  'META-INF/SIG-X.a-b': true,
  'META-INF/SIG-X.ä': true,
  'META-INF2/X.SF': true,
  'xMETA-INF/X.SF': true,
  'META-INF/X.SF': false,
  'META-INF/x.sf': false,
  'meta-inf/x.Sf': false,
  'META-INF/.SF': false,
  'META-INF/SF.SF.SF': false,
  'META-INF/X.RSA': false,
  'META-INF/X.dsa': false,
  'META-INF/X.EC': false,
  'META-INF/SIG-': false,
  'META-INF/SIG-X': false,
  'META-INF/sig-x': false,
  'META-INF/SIG-X.A': false,
  'META-INF/SIG-X.a1z': false,
  'META-INF/SIG-X.json.txt': false,
  'META-INF/SIG-.json': true,
  // Letters that are S and I in upper case.
  'META-INF/X.ſf': false,
  'META-INF/SıG-X': false,
};

describe('a signature', () => {
  it.each(Object.entries(COVERED))('and %s: covered %s', async (name, isCovered) => {
    const entries = [{ name: 'META-INF/MANIFEST.MF', contents: 'X: 1\n\n' }, { name }];
    const layout = await readLayout(memorySource(zip(entries)));
    expect(layout.signable.map((entry) => entry.name)).toEqual(isCovered ? [name] : []);
  });

  it('covers no folder, and not the manifest', async () => {
    const entries = ['META-INF/', 'META-INF/MANIFEST.MF', 'a/', 'META-INF/X.SF/'].map((name) => ({ name }));
    expect((await readLayout(memorySource(zip(entries)))).signable).toEqual([]);
  });

  it('covers the names that Java signs: those of the table, and random ones', async () => {
    const names = [...Object.keys(COVERED), ...randomNames(3000)];
    const folder = mkdtempSync(join(tmpdir(), 'codesign-names-'));
    try {
      const file = join(folder, 'names.txt');
      writeFileSync(file, names.map((name) => `${name}\n`).join(''));
      const options = ['--add-exports', 'java.base/sun.security.util=ALL-UNNAMED'];
      const output = await runReader(mainJava(), [...options, 'SigningRelated', file]);
      const said = output
        .trim()
        .split('\n')
        .filter((line) => line === 'true' || line === 'false');
      expect(said).toHaveLength(names.length);
      const differing = names.filter((name, index) => (ownNameOf(name) !== undefined) !== (said[index] === 'true'));
      expect(differing).toEqual([]);
      expect(said.filter((word) => word === 'true').length).toBeGreaterThan(300);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function randomNames(count: number): readonly string[] {
  const random = randomNumbers(11);
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const starts = ['META-INF/', 'META-INF/', 'META-INF/', 'meta-inf/', 'Meta-Inf/sub/', 'META-INF', ''];
  const middles = ['', 'SIG-', 'sig-', 'X', 'a.b', 'MANIFEST', 'ä', 'x/', 'SIG'];
  const ends = ['', '.', '.SF', '.sf', '.RSA', '.Dsa', '.ec', '.MF', '.a', '.ab1', '.abcd', '.-', '.é', '/', ' .SF'];
  return Array.from(
    { length: count },
    () => `${pick(starts)}${pick(middles)}${pick(middles)}${pick(ends)}${random(9) === 0 ? pick(ends) : ''}`,
  );
}

const open = (...entries: readonly (SimpleEntry | string)[]) =>
  openBytes(jar, zip(entries.map((entry) => (typeof entry === 'string' ? { name: entry } : entry))));
const manifest = { name: 'META-INF/MANIFEST.MF', contents: 'Manifest-Version: 1.0\n\n' };

describe('names that are rejected', () => {
  it.each(['/a', '//a', './a', '././a', '/META-INF/MANIFEST.MF', './META-INF/X.SF'])(
    'the name %s, which Java looks up as another',
    async (name) => {
      await expect(open(manifest, name)).rejects.toMatchObject({ code: 'zip-name-refused', category: 'local' });
    },
  );

  it.each(['.a', '..a', '.../a', 'a./b', '...'])('not: %s', async (name) => {
    await expect(open(manifest, name)).resolves.toBeDefined();
  });

  it('two manifests, and two signature files of one name in other cases', async () => {
    const refusal = { code: 'zip-ambiguous', category: 'local' };
    await expect(open(manifest, { ...manifest, name: 'meta-inf/manifest.mf' })).rejects.toMatchObject(refusal);
    await expect(open(manifest, 'META-INF/X.SF', 'META-INF/x.sf')).rejects.toMatchObject(refusal);
  });

  it('folders with contents', async () => {
    await expect(open(manifest, { name: 'a/', contents: 'x' })).rejects.toMatchObject({ code: 'zip-unsupported' });
  });
});

describe('the user gets a warning', () => {
  it('about nothing in a JAR that is as it should be', async () => {
    expect(await warningsOf(await open(manifest, 'a', 'META-INF/SIG-X'))).toEqual([]);
  });

  it.each([
    ['that there is no manifest', [{ name: 'a' }], /has no manifest/],
    [
      'of a manifest in lower case',
      [{ ...manifest, name: 'meta-inf/manifest.mf' }, { name: 'a' }],
      /meta-inf\/manifest\.mf/,
    ],
    ['that there is nothing to sign', [manifest], /no file to sign/],
    ['of a section without a file', [{ ...manifest, contents: 'X: 1\n\nName: gone\n\n' }, { name: 'a' }], /gone/],
    [
      'of several of them in one sentence',
      [{ ...manifest, contents: 'X: 1\n\nName: gone\n\nName: too\n\n' }, { name: 'a' }],
      /gone and 1 more/,
    ],
  ])('%s', async (_, entries, warning) => {
    expect(await warningsOf(await open(...entries))).toEqual([expect.stringMatching(warning)]);
  });

  it('about nothing for sections that are no files', async () => {
    const contents = 'X: 1\n\nName: folder/\n\nName: https://example.com/a.class\n\n';
    expect(await warningsOf(await open({ ...manifest, contents }, 'a'))).toEqual([]);
  });

  it('about bytes after the archive', async () => {
    expect(await warningsOf(await openBytes(jar, readFixture('jar/trailing-bytes.jar')))).toEqual([
      expect.stringContaining('3 bytes'),
    ]);
  });
});

it('makes META-INF/MANIFEST.MF of a manifest in lower case, with its contents', async () => {
  const signer = await makeThrowawaySigner();
  for (const name of ['meta-inf/manifest.mf', 'META-INF/Manifest.mf']) {
    const { result } = await signBytes(jar, zip([{ ...manifest, name, isStored: true }, { name: 'a' }]), signer);
    expect(unzip(result).map((entry) => entry.name)).toEqual([
      'META-INF/MANIFEST.MF',
      'META-INF/TEST_PUB.SF',
      'META-INF/TEST_PUB.RSA',
      'a',
    ]);
    expect(unzip(result)[0]?.contents.toString()).toMatch(/^Manifest-Version: 1\.0\n\nName: a\n/);
    expect(await warningsOf(await openBytes(jar, result))).toEqual([]);
  }
});
