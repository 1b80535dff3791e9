import { afterAll, describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, type SignBytesOptions, signBytes } from '../support/sign-bytes.ts';
import { readInJava } from './interop/read-by-java.ts';
import { signAgain, withoutWholeDigest } from './interop/signed-again.ts';
import { contentsOf, jarOf, MANIFEST, namesIn, repack, withManifest } from './simple-zip.ts';

/** The signatures of a JAR that another signature can stand next to. Java must still accept each of them. */

const FIRST = 'META-INF/TEST_PUB';
const plain = jarOf('Manifest-Version: 1.0\r\n\r\n', 'a', 'b');

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
const signed = (await signBytes(jar, plain, signer)).result;

async function append(bytes: Buffer, options: SignBytesOptions = {}, by = another): Promise<Buffer> {
  return (await signBytes(jar, bytes, by, { ...options, mode: 'append' })).result;
}

/** Archives, each with the signers of its files as Java must have them. */
const forJava: { readonly bytes: Buffer; readonly signers: readonly string[] }[] = [];
const BOTH = ['Another Publisher', 'Test Publisher'];
const folder = folderForAll();

afterAll(async () => {
  const archives = forJava.map(({ bytes }) => bytes);
  for (const [index, reading] of (await readInJava(folder, archives)).entries()) {
    const signers = new Map(['a', 'b'].map((name) => [name, forJava[index]?.signers ?? []]));
    expect(reading).toMatchObject({ failures: [], unsigned: [], signers });
  }
});

describe('a second signature', () => {
  it.each(['SHA256', 'SHA384', 'SHA512'] as const)(
    'by another algorithm than %s takes the digests that are there: the manifest stays',
    async (algorithm) => {
      const { result } = await signBytes(jar, plain, signer, { algorithm });
      const bytes = await append(result, { algorithm: algorithm === 'SHA512' ? 'SHA256' : 'SHA512' });
      for (const name of [MANIFEST, `${FIRST}.SF`, `${FIRST}.RSA`])
        expect(contentsOf(bytes, name)).toEqual(contentsOf(result, name));
      // The digests in the manifest may be weaker than that of the block.
      const signatures = await (await openBytes(jar, bytes)).signatures();
      const weaker = algorithm === 'SHA512' ? 'SHA256' : algorithm;
      expect(signatures.map((each) => each.algorithm).sort()).toEqual([weaker, algorithm].sort());
      forJava.push({ bytes, signers: BOTH });
    },
  );

  it('can be added to one that has no digest of the whole manifest, or more digests than it needs', async () => {
    forJava.push({ bytes: await append(signAgain(signed, signer, 'TEST_PUB', withoutWholeDigest)), signers: BOTH });
    const digest = 'SHA1-Digest: hvfkN/qlp/zhXR3cuerq6jd2Z7g=';
    const { result } = await signBytes(jar, jarOf(`X: 1\r\n\r\nName: a\r\n${digest}\r\n\r\n`, 'a', 'b'), signer);
    expect(contentsOf(result, MANIFEST).toString()).toContain(digest);
    expect(contentsOf(await append(result, { algorithm: 'SHA384' }), MANIFEST)).toEqual(contentsOf(result, MANIFEST));
  });

  it('by the same certificate replaces it, also if a file was changed since, or it cannot be read', async () => {
    const again = await append(signed, { algorithm: 'SHA384' }, signer);
    expect(namesIn(again)).toEqual(namesIn(signed));
    expect(contentsOf(again, `${FIRST}.SF`).toString()).toContain('SHA-384-Digest-Manifest: ');
    for (const changes of [{ b: 'other' }, { [`${FIRST}.SF`]: 'nonsense\r\n' }]) {
      const bytes = await append(repack(signed, changes), {}, signer);
      expect(namesIn(bytes)).toEqual(namesIn(signed));
      forJava.push({ bytes, signers: ['Test Publisher'] });
    }
  });

  it('by the same certificate under another name, or by another certificate of that name, is added', async () => {
    const both = await append(signed, { signerName: 'second' }, signer);
    expect(namesIn(both)).toEqual(expect.arrayContaining([`${FIRST}.SF`, 'META-INF/SECOND.SF', 'META-INF/SECOND.RSA']));
    const namesake = await makeThrowawaySigner({ bits: 3072 });
    const bytes = await append(signed, {}, namesake);
    expect(namesIn(bytes)).toEqual(expect.arrayContaining([`${FIRST}.SF`, 'META-INF/TEST_PU2.RSA']));
    forJava.push({ bytes, signers: ['Test Publisher', 'Test Publisher'] });
    expect([...namesIn(await append(bytes, {}, namesake))].sort()).toEqual([...namesIn(bytes)].sort());
  });
});

describe('no signature can be added next to one', () => {
  const file = (name: string) => contentsOf(signed, `${FIRST}.${name}`);
  const without = (changes: Parameters<typeof repack>[1]) => repack(signed, changes);
  const OF_DSA = repack(plain, {}, [
    { name: 'META-INF/ANOTHER_.SF', contents: file('SF') },
    { name: 'META-INF/ANOTHER_.DSA', contents: 'a block of another kind' },
  ]);
  const sectionChanged = withManifest(signed, (text) => text.replace('Name: a\r\n', 'Name: a\r\nX: 1\r\n'));

  it.each<[string, Buffer, reason?: RegExp]>([
    // Stronger digests would break it.
    ['whose digests are SHA-1', readFixture('golden/sha1-rsa2048.jar'), /GOLDEN_R\.RSA\): .* SHA-1/],
    ['whose manifest was changed', signAgain(sectionChanged, signer, 'TEST_PUB', (text) => text)],
    ['whose signature file was changed', without({ [`${FIRST}.SF`]: file('SF').toString().replace('1.0', '2.0') })],
    ['whose block is none', without({ [`${FIRST}.RSA`]: 'not a block' })],
    ['whose signature file cannot be read', signAgain(signed, signer, 'TEST_PUB', () => 'nonsense\r\n')],
    ['by DSA under the name of the new one', OF_DSA, /\.DSA\): /],
    ['in an archive that lost its manifest', without({ [MANIFEST]: undefined })],
  ])('%s, which can be replaced', async (_, bytes, reason = /TEST_PUB\.RSA\): /) => {
    const refusal = { code: 'cannot-append', category: 'local', message: expect.stringMatching(reason) };
    await expect(append(bytes)).rejects.toMatchObject(refusal);
    const names = namesIn((await signBytes(jar, bytes, another)).result);
    expect(names.filter((name) => /\.(SF|RSA)$/.test(name))).toEqual(['META-INF/ANOTHER_.SF', 'META-INF/ANOTHER_.RSA']);
  });
});

describe('half a signature', () => {
  const leftovers = readFixture('jar/old-signature-leftovers.jar');
  const halves = ['META-INF/OTHER.SF', 'META-INF/THIRD.RSA'];

  it('is none, with a warning, is left alone by append, and removed by replace, unlike SIG-* files', async () => {
    const file = await openBytes(jar, leftovers);
    expect(await file.signatures()).toEqual([]);
    expect((await warningsOf(file)).filter((warning) => /OTHER|THIRD/.test(warning))).toHaveLength(2);
    expect(namesIn(await append(leftovers))).toEqual(expect.arrayContaining(halves));
    const others = ['OLD.DSA', 'older.sf', 'SIG-X'].map((name) => ({ name: `META-INF/${name}`, contents: 'x' }));
    const { result } = await signBytes(jar, repack(await append(signed), {}, others), signer);
    expect(namesIn(result)).toEqual([MANIFEST, `${FIRST}.SF`, `${FIRST}.RSA`, 'a', 'b', 'META-INF/SIG-X']);
  });

  it.each(['OTHER', 'THIRD'])('is replaced by a new one of its name: %s', async (name) => {
    const result = await append(leftovers, { signerName: name.toLowerCase() });
    const its = namesIn(result).filter((each) => each.startsWith(`META-INF/${name}`));
    expect([...its].sort()).toEqual([`META-INF/${name}.RSA`, `META-INF/${name}.SF`]);
    expect(await (await openBytes(jar, result)).signatures()).toHaveLength(1);
  });
});
