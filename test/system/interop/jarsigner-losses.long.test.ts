/** What jarsigner loses of a JAR without a word, next to what this program makes of the same file: nothing is lost. */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { mainJava, runJar } from '../../support/programs/java.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { fixturesIn, readFixture } from '../../unit/formats/support/fixtures.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { type Loss, lossesOf } from './compare-archives.ts';
import { jarsignerSignAll, makeKeystore } from './java/jarsigner.ts';
import { executableProgram } from './java/programs.ts';
import { readAsArchives } from './java/readers.ts';

const folder = folderForAll();
const FIXTURES = [
  'preamble-unfixed.jar',
  'preamble-fixed.jar',
  'archive-comment.jar',
  'entry-comments.jar',
  'manifest-without-last-newline.jar',
];
const inFolder = (name: string) => path.join(folder, name);

const signer = await makeThrowawaySigner();
const keystore = makeKeystore(folder);
const program = await executableProgram(folder);
const fixtures = FIXTURES.map((name) => [name, readFixture(`jar/${name}`)] as const);

interface Signed {
  readonly file: string;
  readonly bytes: Buffer;
}

/** Signed with jarsigner, by name. */
const signedByThem = new Map<string, Signed & { readonly said: string }>();
const theirs = (name: string) => signedByThem.get(name) ?? expect.unreachable(name);
await signTheirs([...fixtures, ['app', readFileSync(program.path)]]);

async function signTheirs(originals: readonly (readonly [name: string, bytes: Buffer])[]): Promise<void> {
  const requests = originals.map(([name, bytes]) => {
    writeFileSync(inFolder(name), bytes);
    return { name, keystore, input: inFolder(name), output: inFolder(`theirs-${name}`) };
  });
  const said = await jarsignerSignAll(requests);
  for (const [index, { name, output: file }] of requests.entries()) {
    signedByThem.set(name, { file, said: said[index] ?? '', bytes: readFileSync(file) });
  }
}

/** Signs as this program does. */
async function ours(name: string, original: Buffer): Promise<Signed> {
  const file = inFolder(`ours-${name}`);
  const { result } = await signBytes(jar, original, signer);
  writeFileSync(file, result);
  return { file, bytes: result };
}

const ofWhole = (losses: readonly Loss[]) => losses.filter(({ what }) => what !== 'entry');
/** The parts of one entry's record that are no longer the same. */
const ofEntry = (losses: readonly Loss[], name: string) =>
  losses.filter(({ entry }) => entry === name).map(({ detail }) => detail);

describe('jarsigner silently loses', () => {
  it.each(['preamble-unfixed.jar', 'preamble-fixed.jar'])('the script before the archive: %s', async (name) => {
    const original = readFixture(`jar/${name}`);
    const { bytes, said } = theirs(name);
    expect(ofWhole(lossesOf(original, bytes))).toEqual([{ what: 'preamble', detail: '35 bytes → 0' }]);
    expect(said).not.toMatch(/script|preamble|prefix|before/i);

    const result = await ours(name, original);
    expect(lossesOf(original, result.bytes)).toEqual([]);
  });

  it('the comment of the archive', async () => {
    const original = readFixture('jar/archive-comment.jar');
    const { bytes, said } = theirs('archive-comment.jar');
    expect(ofWhole(lossesOf(original, bytes))).toEqual([{ what: 'archive comment', detail: '23 bytes → 0' }]);
    expect(said).not.toMatch(/comment/i);

    const result = await ours('archive-comment.jar', original);
    expect(lossesOf(original, result.bytes)).toEqual([]);
  });

  it('what the records of entries hold: flags, checksums and sizes, extra fields, times, compression, kinds', async () => {
    const original = readFixture('jar/entry-comments.jar');
    const { bytes, said } = theirs('entry-comments.jar');
    const losses = lossesOf(original, bytes);
    const lost = (...details: readonly string[]) => expect.arrayContaining([...details]);
    expect(ofEntry(losses, 'hello/Hello.class')).toEqual(lost('local flags', 'local checksum', 'local sizes', 'data'));
    expect(ofEntry(losses, 'hello/run.sh')).toEqual(lost('central extra field', 'local extra field'));
    expect(ofEntry(losses, 'hello/dated.txt')).toEqual(lost('central time', 'local time', 'local extra field'));
    expect(ofEntry(losses, 'hello/link')).toEqual(lost('central made by'));
    expect(ofEntry(losses, 'META-INF/')).toEqual(lost('central external attributes'));
    expect(said).not.toMatch(/comment|extra|compress|time of/i);

    const result = await ours('entry-comments.jar', original);
    expect(lossesOf(original, result.bytes)).toEqual([]);
  });

  it('the last line of a manifest when it lacks its end, here the one with the main class', async () => {
    const name = 'manifest-without-last-newline.jar';
    const original = readFixture(`jar/${name}`);
    const { file, bytes, said } = theirs(name);
    expect(ofWhole(lossesOf(original, bytes))).toEqual([{ what: 'manifest', detail: 'Main-Class: hello.Hello' }]);
    expect(said).not.toMatch(/manifest|main-class|line/i);

    const result = await ours(name, original);
    expect(lossesOf(original, result.bytes)).toEqual([]);
    const readings = await readAsArchives(mainJava(), [file, result.file]);
    expect(readings.map(({ attributes }) => attributes.get('Main-Class'))).toEqual([undefined, 'hello.Hello']);
    expect(await runJar(mainJava(), file)).toMatchObject({ accepted: false });
    expect(await runJar(mainJava(), result.file)).toEqual({ accepted: true, output: 'Hello from a signed JAR.\n' });
  });

  it('that a program can be started unchanged', async () => {
    const original = readFileSync(program.path);
    const started = { accepted: true, output: program.expected };
    expect(await program.run(mainJava())).toEqual(started);

    const { file } = theirs('app');
    chmodSync(file, 0o755);
    expect(await program.run(mainJava(), file)).toMatchObject({ accepted: false });

    const result = await ours('app', original);
    chmodSync(result.file, 0o755);
    expect(await program.run(mainJava(), result.file)).toEqual(started);
  });
});

describe('of the same files this program', () => {
  it.each(fixturesIn('jar'))('loses nothing: $name', async ({ bytes }) => {
    expect(lossesOf(bytes, (await signBytes(jar, bytes, signer)).result)).toEqual([]);
  });
});

describe('the comparison', () => {
  it.each(['plain.jar', 'entry-comments.jar', 'gaps.jar', 'descriptors-64.jar', 'zip64-sizes.jar'])(
    'notices changed bytes before the end record: %s',
    (name) => {
      // Under another name the manifest is an entry like all others.
      const text = readFixture(`jar/${name}`).toString('latin1').replaceAll('MANIFEST.MF', 'MANIFEST.XX');
      const original = Buffer.from(text, 'latin1');
      const end = original.indexOf('PK\x06\x06') >= 0 ? original.indexOf('PK\x06\x06') : original.indexOf('PK\x05\x06');
      const offsets = [...original.keys()].slice(0, end).filter((offset) => offset % 7 === 0 || offset < 200);
      const unnoticed = offsets.filter((offset) => {
        const changed = Buffer.from(original);
        changed.writeUInt8(original.readUInt8(offset) ^ 0x55, offset);
        return !isNoticed(original, changed);
      });
      expect(unnoticed).toEqual([]);
    },
  );
});

/** A change can also make an archive that cannot be read any more. */
function isNoticed(original: Buffer, changed: Buffer): boolean {
  try {
    return lossesOf(original, changed).length > 0;
  } catch {
    return true;
  }
}
