import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../../../src/bytes/byte-source.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { readLayout } from '../../../../../src/formats/jar/layout.ts';
import { mainJava } from '../../../../support/programs/java.ts';
import { folderForAll } from '../../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { readAsArchives, readAsStreams } from '../../../../system/interop/java/readers.ts';
import { seededRandom } from '../../../zip/support/random.ts';
import { isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { type SimpleEntry, zip } from '../simple-zip.ts';
import { signAgain, withoutWholeDigest } from './signed-again.ts';

const COUNT = 150;
const folder = folderForAll();
const random = seededRandom(1904);
const pick = <T>(from: readonly T[], otherwise: T): T => from[random(from.length)] ?? otherwise;
const PIECES = [...'a|B.class|META-INF|sub|ä|😀| |SIG-X|Y.SF|:|.'.split('|'), '語'.repeat(30), 'x'.repeat(80)];
/** Java's name, and what node:crypto calls it. */
const ALGORITHMS = [
  ['MD5', 'md5'],
  ['SHA', 'sha1'],
  ['sha-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-512', 'sha512'],
] as const;

function randomName(index: number): string {
  const depth = random(4);
  const folders = Array.from({ length: depth }, () => pick(PIECES, 'a')).filter((piece) => piece !== '.');
  const name = [...folders, `${index}${pick(PIECES, 'a')}`].join('/');
  // Directly after the signatures Java's stream reader takes it for one of them, in whatever folder it is.
  return /^META-INF\/.*\.SF$/.test(name) ? `${name}_` : name;
}

function randomJar(): Buffer {
  const files: SimpleEntry[] = Array.from({ length: random(8) }, (_, index) => ({
    name: randomName(index),
    contents: 'contents '.repeat(random(5)),
    isStored: random(2) === 0,
  }));
  const newline = pick(['\r\n', '\n', '\r'], '\n');
  const blank = () => newline.repeat(random(5) === 0 ? 2 : 1);
  const sections = files.flatMap(({ name, contents = '' }) => {
    if (random(2) === 0) return [];
    const digests = ALGORITHMS.flatMap(([javaName, algorithm]) => {
      if (random(4) > 0) return [];
      const right = createHash(algorithm).update(contents).digest('base64');
      return [`${javaName}-Digest: ${random(3) === 0 ? 'wrong=' : right}${newline}`];
    });
    const others = random(3) === 0 ? `X-Attribute: ${'y'.repeat(random(60))}${newline}` : '';
    return [`${brokenAnywhere(`Name: ${name}`, newline)}${newline}${others}${digests.join('')}${blank()}`];
  });
  const gone = random(4) === 0 ? [`Name: gone${newline}SHA1-Digest: x${newline}${newline}`] : [];
  const main = `Manifest-Version: 1.0${newline}X-Main: ${'é'.repeat(random(20))}${newline}${blank()}`;
  const manifest = { name: 'META-INF/MANIFEST.MF', contents: main + [...sections, ...gone].join('') };
  const withManifest = random(8) === 0 ? files : [...files.slice(0, 2), manifest, ...files.slice(2)];
  return zip(random(3) === 0 ? [...withManifest, { name: 'META-INF/', isStored: true }] : withManifest);
}

/** In lines of 72 bytes, even inside a character. */
function brokenAnywhere(text: string, newline: string): Buffer | string {
  const bytes = Buffer.from(text).toString('latin1');
  const lines = bytes.match(/^[\s\S]{1,70}|[\s\S]{1,69}/g) ?? [];
  const broken = lines.join(`${newline} `);
  // Only what is whole characters can continue as text.
  const decoded = Buffer.from(broken, 'latin1').toString();
  return Buffer.from(decoded).toString('latin1') === broken ? decoded : text;
}

it('is verified by Java, by directory and as a stream', async () => {
  const signer = await makeThrowawaySigner();
  const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
  const made: { readonly file: string; readonly isTwice: boolean; readonly bytes: Buffer }[] = [];
  for (let index = 0; index < COUNT; index++) {
    const original = randomJar();
    const algorithm = pick(['SHA256', 'SHA384', 'SHA512'] as const, 'SHA256');
    let bytes = (await signBytes(jar, original, signer, { algorithm })).result;
    const isTwice = random(2) === 0;
    if (isTwice) {
      const second = pick(['SHA256', 'SHA384', 'SHA512'] as const, 'SHA256');
      bytes = (await signBytes(jar, bytes, another, { algorithm: second, mode: 'append' })).result;
    } else if (random(2) === 0) {
      bytes = signAgain(bytes, signer, 'TEST_PUB', withoutWholeDigest);
    }
    const file = join(folder, `${index}.jar`);
    writeFileSync(file, bytes);
    made.push({ file, isTwice, bytes });
  }
  const files = made.map(({ file }) => file);
  const readings = [await readAsArchives(mainJava(), files), await readAsStreams(mainJava(), files)];
  for (const [index, { file, isTwice, bytes }] of made.entries()) {
    const signable = (await readLayout(memorySource(bytes))).signable.length;
    for (const reading of readings.map((all) => all[index])) {
      expect(reading, file).toMatchObject({ failures: [], unsigned: [], hasManifest: true, entries: signable });
      const signers = isTwice ? ['Another Publisher', 'Test Publisher'] : ['Test Publisher'];
      for (const names of reading?.signers.values() ?? []) expect(names).toEqual(signers);
      expect(reading?.signers.size).toBe(signable);
    }
    for (const signature of await (await openBytes(jar, bytes)).signatures()) {
      expect(await isIntact(signature)).toBe(true);
    }
  }
  const total = readings[0]?.reduce((sum, { entries }) => sum + entries, 0) ?? 0;
  expect(total).toBeGreaterThan(2 * COUNT);
});
