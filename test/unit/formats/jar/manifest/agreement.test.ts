/** Holds what is said of signature file and manifest to what Java says of the same archives. */

import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../../../src/errors/codesign-error.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { readLayout } from '../../../../../src/formats/jar/layout.ts';
import { agrees } from '../../../../../src/formats/jar/manifest/agreement.ts';
import { readBlocks } from '../../../../../src/formats/jar/signature/blocks.ts';
import { mainJava } from '../../../../support/programs/java.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { readAsArchives } from '../../../../system/interop/java/readers.ts';
import { fixturesIn } from '../../support/fixtures.ts';
import { isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from '../interop/signed-again.ts';
import { contentsOf, repack, unzip, zip } from '../simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
let signer: ThrowawaySigner;
/** Three files, and sections with other attributes too; its signature knows only main attributes and sections. */
let signed: Buffer;

beforeAll(async () => {
  signer = await makeThrowawaySigner();
  const plain = zip([
    {
      name: MANIFEST,
      contents: 'Manifest-Version: 1.0\r\nX: 1\r\n\r\nName: a\r\nY: 2\r\n\r\nName: p/\r\nSealed: true\r\n\r\n',
    },
    { name: 'a', contents: 'a' },
    { name: 'p/b', contents: 'b' },
    { name: 'c', contents: 'c' },
  ]);
  signed = bySections((await signBytes(jar, plain, signer)).result);
});

const bySections = (archive: Buffer) => signAgain(archive, signer, 'TEST_PUB', withoutWholeDigest);
const withManifest = (archive: Buffer, change: (text: string) => string) => {
  const before = contentsOf(archive, MANIFEST).toString();
  const after = change(before);
  if (after === before) throw new Error('the manifest was not changed');
  return repack(archive, { [MANIFEST]: after });
};

interface Reading {
  /** Whether the signature file speaks of this manifest. */
  readonly agrees: boolean;
  /** Whether the signature covers every file as it is. */
  readonly isIntact: boolean;
}

async function ours(archive: Buffer): Promise<Reading> {
  try {
    const source = memorySource(archive);
    const layout = await readLayout(source);
    const [block] = await readBlocks(source, layout);
    const [signature] = await (await openBytes(jar, archive)).signatures();
    const signatureFile = block?.readSignatureFile();
    if (layout.manifest === undefined || signatureFile === undefined) return { agrees: false, isIntact: false };
    return {
      agrees: block?.examineSigners().length === 0 && agrees(signatureFile, layout.manifest.parsed),
      isIntact: await isIntact(signature),
    };
  } catch (thrown) {
    if (thrown instanceof CodesignError) return { agrees: false, isIntact: false };
    throw thrown;
  }
}

/** In one JVM. A signature is none to Java when it throws, or when no file is signed by it. */
async function theirs(archives: readonly Buffer[]): Promise<readonly Reading[]> {
  const folder = mkdtempSync(join(tmpdir(), 'codesign-agreement-'));
  try {
    const files = archives.map((archive, index) => {
      const file = join(folder, `${index}.jar`);
      writeFileSync(file, archive);
      return file;
    });
    const readings = await readAsArchives(mainJava(), files);
    return readings.map(({ failures, signers, unsigned }) => {
      const isSigned = failures.length === 0 && signers.size > 0;
      return { agrees: isSigned, isIntact: isSigned && unsigned.length === 0 };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const OF_MAIN = 'SHA-256-Digest-Manifest-Main-Attributes';
const SECTION_C = /Name: c\r\n.*\r\n\r\n/;
const GOOD = { agrees: true, isIntact: true };
const PARTIAL = { agrees: true, isIntact: false };
const BAD = { agrees: false, isIntact: false };

/** What was done to the signed archive → how, and what is said of it. */
const CHANGES: Readonly<Record<string, readonly [change: () => Buffer, said: Reading, byJava?: Reading]>> = {
  nothing: [() => signed, GOOD],
  'an attribute added to a section': [() => withManifest(signed, (text) => text.replace('Y: 2', 'Y: 2\r\nZ: 3')), BAD],
  'an attribute changed in a section that is no file': [
    () => withManifest(signed, (text) => text.replace('Sealed: true', 'Sealed: no')),
    BAD,
  ],
  'an attribute changed among the main ones': [() => withManifest(signed, (text) => text.replace('X: 1', 'X: 2')), BAD],
  'an attribute added among the main ones': [
    () => withManifest(signed, (text) => text.replace('X: 1', 'X: 1\r\nZ: 3')),
    BAD,
  ],
  'a section taken out': [() => withManifest(signed, (text) => text.replace(SECTION_C, '')), BAD],
  'a section taken out with its file': [
    () =>
      repack(
        withManifest(signed, (text) => text.replace(SECTION_C, '')),
        { c: undefined },
      ),
    BAD,
  ],
  'the sections in another order': [
    () =>
      withManifest(signed, (text) =>
        `${text.replace(SECTION_C, '')}${SECTION_C.exec(text)?.[0]}`.replace(
          /(Name: a[\s\S]*?\r\n\r\n)([\s\S]*)/,
          '$2$1',
        ),
      ),
    GOOD,
  ],
  'an empty line after the last section': [() => withManifest(signed, (text) => `${text}\r\n`), GOOD],
  'empty lines between sections': [
    () => withManifest(signed, (text) => text.replace('Name: c', '\r\n\nName: c')),
    GOOD,
  ],
  'an empty line after the main attributes': [
    () => withManifest(signed, (text) => text.replace('Name: a', '\r\nName: a')),
    GOOD,
  ],
  'other line ends': [() => withManifest(signed, (text) => text.replaceAll('\r\n', '\n')), BAD],
  'a section of a file that is not there': [
    () => withManifest(signed, (text) => `${text}Name: d\r\nX: 1\r\n\r\n`),
    GOOD,
  ],
  'a file added, without a section': [() => repack(signed, {}, [{ name: 'd', contents: 'd' }]), PARTIAL],
  'a file added, with its section': [
    () =>
      withManifest(
        repack(signed, {}, [{ name: 'd', contents: 'c' }]),
        (text) => text + SECTION_C.exec(text)?.[0].replace('Name: c', 'Name: d'),
      ),
    PARTIAL,
  ],
  'a file under META-INF that is signed as any other added': [
    () => repack(signed, {}, [{ name: 'META-INF/x', contents: '' }]),
    PARTIAL,
  ],
  'a SIG- file added': [() => repack(signed, {}, [{ name: 'META-INF/SIG-X.y', contents: '' }]), GOOD],
  'a folder added': [() => repack(signed, {}, [{ name: 'f/' }]), GOOD],
  'a second section of one name': [() => withManifest(signed, (text) => `${text}Name: c\r\nX: 1\r\n\r\n`), BAD],
  'the signature file changed': [
    () => repack(signed, { 'META-INF/TEST_PUB.SF': `${contentsOf(signed, 'META-INF/TEST_PUB.SF')}\r\n` }),
    BAD,
  ],
  'the signature file without the digest of the main attributes': [
    () =>
      signAgain(signed, signer, 'TEST_PUB', (text) =>
        text.replace(/^SHA-256-Digest-Manifest-Main-Attributes.*\r\n( .*\r\n)*/m, ''),
      ),
    GOOD,
  ],
  'the signature file with digests by an unknown algorithm alone': [
    () => signAgain(signed, signer, 'TEST_PUB', (text) => text.replaceAll('SHA-256-Digest:', 'Foo-Digest:')),
    BAD,
  ],
  'the signature file with a wrong digest of an unknown algorithm too': [
    () =>
      signAgain(signed, signer, 'TEST_PUB', (text) =>
        text.replaceAll('SHA-256-Digest:', 'Foo-Digest: x\r\nSHA-256-Digest:'),
      ),
    GOOD,
  ],
  'the digest of the main attributes by an unknown algorithm alone': [
    () => signAgain(signed, signer, 'TEST_PUB', (text) => text.replace(OF_MAIN, 'Foo-Digest-Manifest-Main-Attributes')),
    BAD,
  ],
  'a wrong digest of the main attributes by an unknown algorithm too': [
    () =>
      signAgain(signed, signer, 'TEST_PUB', (text) =>
        text.replace(OF_MAIN, 'Foo-Digest-Manifest-Main-Attributes: AAAA\r\n$&'),
      ),
    GOOD,
  ],
  'the digest of the main attributes by MD5 alone': [
    () => {
      const [main = ''] = contentsOf(signed, MANIFEST).toString().split('Name: ');
      const line = `MD5-Digest-Manifest-Main-Attributes: ${hash('md5', main, 'base64')}\r\n`;
      return signAgain(signed, signer, 'TEST_PUB', (text) =>
        text.replace(/^SHA-256-Digest-Manifest-Main.*\r\n( .*\r\n)*/m, line),
      );
    },
    PARTIAL,
    BAD,
  ],
  'a digest of the whole manifest by MD2 alone': [
    () => signAgain(signed, signer, 'TEST_PUB', (text) => text.replace(OF_MAIN, 'MD2-Digest-Manifest: AAAA\r\n$&')),
    BAD,
  ],
  'a wrong digest of the whole manifest by MD5 alone': [
    () => signAgain(signed, signer, 'TEST_PUB', (text) => text.replace(OF_MAIN, 'MD5-Digest-Manifest: AAAA\r\n$&')),
    PARTIAL,
    BAD,
  ],
  'a wrong digest of the whole manifest by an unknown algorithm': [
    () => signAgain(signed, signer, 'TEST_PUB', (text) => text.replace(OF_MAIN, 'Foo-Digest-Manifest: AAAA\r\n$&')),
    GOOD,
  ],
  // Of what is no longer there Java says nothing. Here a signature that speaks of it does not fit any more.
  'a file taken out': [() => repack(signed, { c: undefined }), PARTIAL, GOOD],
};

/** With one byte of the manifest changed. */
function byteChanges(): readonly { readonly offset: number; readonly archive: Buffer }[] {
  const manifest = contentsOf(signed, MANIFEST);
  const offsets = [...manifest.keys()].filter((offset) => offset % 32 === 0 || offset % 32 === 5);
  return offsets.map((offset) => {
    const changed = Buffer.from(manifest);
    changed.writeUInt8(manifest.readUInt8(offset) ^ (offset % 2 === 0 ? 0x20 : 0x01), offset);
    return { offset, archive: repack(signed, { [MANIFEST]: changed }) };
  });
}

const simple = fixturesIn('jar').filter(({ bytes, name }) => /manifest|plain/.test(name) && isSimple(bytes));

describe('the verdict on a signed JAR with', () => {
  it.each(Object.entries(CHANGES))('%s is said what must be said', async (_, [change, said]) => {
    expect(await ours(change())).toEqual(said);
  });
});

describe('Java', () => {
  let changes: readonly Reading[];
  let flips: readonly Reading[];
  let sections: readonly Reading[];
  let bySection: readonly Buffer[];
  beforeAll(async () => {
    const changed = Object.values(CHANGES).map(([change]) => change());
    const flipped = byteChanges().map(({ archive }) => archive);
    bySection = await Promise.all(
      simple.map(async ({ bytes }) => bySections((await signBytes(jar, bytes, signer)).result)),
    );
    const all = await theirs([...changed, ...flipped, ...bySection]);
    changes = all.slice(0, changed.length);
    flips = all.slice(changed.length, changed.length + flipped.length);
    sections = all.slice(changed.length + flipped.length);
  });

  it('agrees on all of them, except for missing files', () => {
    const expected = Object.values(CHANGES).map(([, byUs, byJava = byUs]) => byJava);
    const what = Object.keys(CHANGES);
    expect(what.map((each, index) => [each, changes[index]])).toEqual(
      what.map((each, index) => [each, expected[index]]),
    );
  });

  it('agrees after a changed byte of the manifest', async () => {
    const byUs = await Promise.all(
      byteChanges().map(async ({ offset, archive }) => ({ offset, ...(await ours(archive)) })),
    );
    expect(byUs.map(({ offset, agrees: isAgreed }) => [offset, isAgreed])).toEqual(
      byUs.map(({ offset }, index) => [offset, flips[index]?.agrees]),
    );
    expect(byUs.some(({ isIntact: isWhole }) => isWhole)).toBe(false);
  });

  it('verifies a signature without the digest of the whole manifest section by section, whatever the manifest was', async () => {
    expect(simple.length).toBeGreaterThan(8);
    for (const [index, archive] of bySection.entries()) {
      const name = simple[index]?.name;
      expect(await ours(archive), name).toEqual(GOOD);
      // It has no file at all.
      if (name !== 'jar/manifest-only.jar') expect(sections[index], name).toEqual(GOOD);
    }
  });
});

function isSimple(bytes: Buffer): boolean {
  try {
    return unzip(bytes).every(({ name }) => name !== '');
  } catch {
    return false;
  }
}
