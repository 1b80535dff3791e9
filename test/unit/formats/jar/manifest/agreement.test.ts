import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../../../src/errors/codesign-error.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { readLayout } from '../../../../../src/formats/jar/layout.ts';
import { findDisagreement } from '../../../../../src/formats/jar/manifest/agreement.ts';
import { readBlocks } from '../../../../../src/formats/jar/signature/blocks.ts';
import { folderForAll } from '../../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { fixturesIn } from '../../support/fixtures.ts';
import { isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { readInJava } from '../interop/read-by-java.ts';
import { signAgain, withoutWholeDigest } from '../interop/signed-again.ts';
import { contentsOf, jarOf, MANIFEST, repack, type SimpleEntry, withManifest } from '../simple-zip.ts';

const folder = folderForAll();
const signer = await makeThrowawaySigner();
const bySections = (archive: Buffer) => signAgain(archive, signer, 'TEST_PUB', withoutWholeDigest);
const SF = 'META-INF/TEST_PUB.SF';
const TEXT = 'Manifest-Version: 1.0\r\nX: 1\r\n\r\nName: a\r\nY: 2\r\n\r\nName: p/\r\nSealed: true\r\n\r\n';
/** Three files, and sections with other attributes too; its signature knows only main attributes and sections. */
const signed = bySections((await signBytes(jar, jarOf(TEXT, 'a', 'p/b', 'c'), signer)).result);

/** What was found: whether the signature file speaks of this manifest, and whether it covers every file as it is. */
type Reading = 'good' | 'partial' | 'bad';

async function ours(archive: Buffer): Promise<Reading> {
  try {
    const source = memorySource(archive);
    const layout = await readLayout(source);
    const [block] = await readBlocks(source, layout);
    const [signature] = await (await openBytes(jar, archive)).signatures();
    const signatureFile = block?.readSignatureFile();
    if (layout.manifest === undefined || signatureFile === undefined) return 'bad';
    const isAgreed = block?.examineSigners().length === 0 && !findDisagreement(signatureFile, layout.manifest.parsed);
    if (await isIntact(signature)) return isAgreed ? 'good' : expect.unreachable();
    return isAgreed ? 'partial' : 'bad';
  } catch (thrown) {
    if (thrown instanceof CodesignError) return 'bad';
    throw thrown;
  }
}

/** A signature is none to Java when it throws, or when no file is signed by it. */
async function theirs(archives: readonly Buffer[]): Promise<readonly Reading[]> {
  return (await readInJava(folder, archives)).map(({ failures, signers, unsigned }) => {
    if (failures.length > 0 || signers.size === 0) return 'bad';
    return unsigned.length === 0 ? 'good' : 'partial';
  });
}

type From = string | RegExp;
const manifest = (from: From, to: string) => withManifest(signed, (text) => text.replace(from, to));
const signatureFile = (from: From, to: string) =>
  signAgain(signed, signer, 'TEST_PUB', (text) => text.replace(from, to));
const added = (entry: SimpleEntry, archive = signed) => repack(archive, {}, [entry]);
const OF_MAIN = 'SHA-256-Digest-Manifest-Main-Attributes';
const LINE_OF_MAIN = /^SHA-256-Digest-Manifest-Main-Attributes.*\r\n( .*\r\n)*/m;
const SECTION_C = /Name: c\r\n.*\r\n\r\n/;
const [MAIN = '', A = '', P = '', B = '', C = ''] = contentsOf(signed, MANIFEST)
  .toString()
  .split(/(?=Name: )/);
const SECTION_D = C.replace('Name: c', 'Name: d');
const FOO_OF_MAIN = 'Foo-Digest-Manifest-Main-Attributes';
const MD5_OF_MAIN = `MD5-Digest-Manifest-Main-Attributes: ${hash('md5', MAIN, 'base64')}\r\n`;

const CHANGES: [what: string, archive: Buffer, said: Reading, byJava?: Reading][] = [
  ['nothing', signed, 'good'],
  ['an attribute added to a section', manifest('Y: 2', 'Y: 2\r\nZ: 3'), 'bad'],
  ['an attribute changed in a section that is no file', manifest('Sealed: true', 'Sealed: no'), 'bad'],
  ['an attribute changed among the main ones', manifest('X: 1', 'X: 2'), 'bad'],
  ['a section taken out', manifest(SECTION_C, ''), 'bad'],
  ['the sections in another order', withManifest(signed, () => MAIN + P + B + C + A), 'good'],
  ['an empty line after the main attributes', manifest('Name: a', '\r\nName: a'), 'good'],
  ['other line ends', manifest(/\r\n/g, '\n'), 'bad'],
  ['a section of a file that is not there', manifest(/$/, 'Name: d\r\nX: 1\r\n\r\n'), 'good'],
  ['a file added, without a section', added({ name: 'd', contents: 'd' }), 'partial'],
  ['a file added, with its section', added({ name: 'd', contents: 'c' }, manifest(/$/, SECTION_D)), 'partial'],
  ['a file under META-INF that is signed as any other added', added({ name: 'META-INF/x' }), 'partial'],
  ['a SIG- file added', added({ name: 'META-INF/SIG-X.y' }), 'good'],
  ['a folder added', added({ name: 'f/' }), 'good'],
  ['a second section of one name', manifest(/$/, 'Name: c\r\nX: 1\r\n\r\n'), 'bad'],
  ['the signature file changed', repack(signed, { [SF]: `${contentsOf(signed, SF)}\r\n` }), 'bad'],
  ['no digest of the main attributes', signatureFile(LINE_OF_MAIN, ''), 'good'],
  ['digests by an unknown algorithm alone', signatureFile(/SHA-256-Digest:/g, 'Foo-Digest:'), 'bad'],
  ['a wrong digest of an unknown algorithm too', signatureFile(/SHA-256-Digest:/g, 'Foo-Digest: x\r\n$&'), 'good'],
  ['an unknown digest of the main attributes alone', signatureFile(OF_MAIN, FOO_OF_MAIN), 'bad'],
  ['an unknown digest of the main attributes too', signatureFile(OF_MAIN, `${FOO_OF_MAIN}: A\r\n$&`), 'good'],
  ['the digest of the main attributes by MD5 alone', signatureFile(LINE_OF_MAIN, MD5_OF_MAIN), 'partial', 'bad'],
  ['a digest of the whole manifest by MD2 alone', signatureFile(OF_MAIN, 'MD2-Digest-Manifest: A\r\n$&'), 'bad'],
  ['a wrong MD5 of the whole manifest', signatureFile(OF_MAIN, 'MD5-Digest-Manifest: A\r\n$&'), 'partial', 'bad'],
  ['an unknown digest of the whole manifest', signatureFile(OF_MAIN, 'Foo-Digest-Manifest: A\r\n$&'), 'good'],
  // Of what is no longer there Java says nothing. Here a signature that speaks of it does not fit any more.
  ['a file taken out', repack(signed, { c: undefined }), 'partial', 'good'],
];

/** With one byte of the manifest changed. */
const FLIPPED = [...contentsOf(signed, MANIFEST).keys()]
  .filter((offset) => offset % 32 === 0 || offset % 32 === 5)
  .map((offset) => {
    const changed = contentsOf(signed, MANIFEST);
    changed.writeUInt8(changed.readUInt8(offset) ^ (offset % 2 === 0 ? 0x20 : 0x01), offset);
    return repack(signed, { [MANIFEST]: changed });
  });

const SIMPLE = fixturesIn('jar').filter(({ name }) => /\/(plain|manifest-(sections|lower|old|wrap|last))/.test(name));

it.each(CHANGES)('what must be said of a signed JAR with %s is said', async (_, archive, said) => {
  expect(await ours(archive)).toBe(said);
});

describe('Java', () => {
  let byJava: readonly Reading[];
  let bySection: readonly Buffer[];
  beforeAll(async () => {
    bySection = await Promise.all(
      SIMPLE.map(async ({ bytes }) => bySections((await signBytes(jar, bytes, signer)).result)),
    );
    byJava = await theirs([...CHANGES.map(([, archive]) => archive), ...FLIPPED, ...bySection]);
  });

  it('agrees on all of them, except for missing files', () => {
    const expected = CHANGES.map(([what, , said, other = said]) => [what, other]);
    expect(CHANGES.map(([what], index) => [what, byJava[index]])).toEqual(expected);
  });

  it('agrees after a changed byte of the manifest', async () => {
    const byUs = await Promise.all(FLIPPED.map(ours));
    const isBad = (reading: Reading | undefined) => reading === 'bad';
    expect(byUs.map(isBad)).toEqual(byJava.slice(CHANGES.length, CHANGES.length + FLIPPED.length).map(isBad));
    expect(byUs).not.toContain('good');
  });

  it('verifies a signature without the digest of the whole manifest section by section, whatever the manifest was', async () => {
    expect(SIMPLE.length).toBeGreaterThan(5);
    for (const [index, archive] of bySection.entries()) {
      const byBoth = [await ours(archive), byJava[CHANGES.length + FLIPPED.length + index]];
      expect(byBoth, SIMPLE[index]?.name).toEqual(['good', 'good']);
    }
  });
});
