/** Holds which signatures of a JAR another one can stand next to, and that those stay as good as they were, in Java too. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { mainJava } from '../../../support/programs/java.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { readAsArchives } from '../../../system/interop/java/readers.ts';
import { signingIn, warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, type SignBytesOptions, signBytes } from '../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from './interop/signed-again.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const FIRST = 'META-INF/TEST_PUB';
const plain = zip([
  { name: MANIFEST, contents: 'Manifest-Version: 1.0\r\n\r\n' },
  { name: 'a', contents: 'a' },
  { name: 'b', contents: 'b' },
]);

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
const signed = (await signBytes(jar, plain, signer)).result;

async function append(bytes: Buffer, options: SignBytesOptions = {}, by = another): Promise<Buffer> {
  return (await signBytes(jar, bytes, by, { ...options, mode: 'append' })).result;
}

const names = (bytes: Buffer) => unzip(bytes).map(({ name }) => name);

/** Archives, each with its files and their signers as Java must have them. */
const forJava: { readonly bytes: Buffer; readonly expected: Readonly<Record<string, readonly string[]>> }[] = [];

afterAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codesign-append-'));
  try {
    const files = forJava.map(({ bytes }, index) => {
      const file = join(folder, `${index}.jar`);
      writeFileSync(file, bytes);
      return file;
    });
    const readings = await readAsArchives(mainJava(), files);
    for (const [index, { expected }] of forJava.entries()) {
      expect(readings[index]).toMatchObject({ failures: [], unsigned: [], signers: new Map(Object.entries(expected)) });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a second signature', () => {
  it.each(['SHA256', 'SHA384', 'SHA512'] as const)(
    'by another algorithm than %s takes the digests that are there: the manifest stays',
    async (algorithm) => {
      const { result } = await signBytes(jar, plain, signer, { algorithm });
      const both = await append(result, { algorithm: algorithm === 'SHA512' ? 'SHA256' : 'SHA512' });
      expect(contentsOf(both, MANIFEST).equals(contentsOf(result, MANIFEST))).toBe(true);
      expect(contentsOf(both, `${FIRST}.SF`).equals(contentsOf(result, `${FIRST}.SF`))).toBe(true);
      expect(contentsOf(both, `${FIRST}.RSA`).equals(contentsOf(result, `${FIRST}.RSA`))).toBe(true);
      const signers = ['Another Publisher', 'Test Publisher'];
      forJava.push({ bytes: both, expected: { a: signers, b: signers } });
    },
  );

  it('is refused after a file was added that the first does not cover', async () => {
    const added = repack(signed, {}, [{ name: 'c', contents: 'c' }]);
    await expect(append(added)).rejects.toMatchObject({ code: 'cannot-append' });
  });

  it('can be added to one that has no digest of the whole manifest', async () => {
    const both = await append(signAgain(signed, signer, 'TEST_PUB', withoutWholeDigest));
    const signers = ['Another Publisher', 'Test Publisher'];
    forJava.push({ bytes: both, expected: { a: signers, b: signers } });
  });

  it('can be added to one with more digests, including a weak one', async () => {
    const { result } = await signBytes(jar, withDigest('SHA1-Digest', 'hvfkN/qlp/zhXR3cuerq6jd2Z7g='), signer);
    expect(contentsOf(result, MANIFEST).toString()).toContain('SHA1-Digest: hvfkN/qlp/zhXR3cuerq6jd2Z7g=');
    const both = await append(result, { algorithm: 'SHA384' });
    expect(contentsOf(both, MANIFEST).equals(contentsOf(result, MANIFEST))).toBe(true);
  });

  it('by the same certificate replaces it, and is the last', async () => {
    const again = await append(signed, { algorithm: 'SHA384' }, signer);
    expect(names(again)).toEqual(names(signed));
    expect(contentsOf(again, `${FIRST}.SF`).toString()).toContain('SHA-384-Digest-Manifest: ');
  });

  it('by the same certificate replaces it although a file was changed since, or it cannot be read', async () => {
    for (const changes of [{ b: 'other' }, { [`${FIRST}.SF`]: 'nonsense\r\n' }]) {
      const again = await append(repack(signed, changes), {}, signer);
      expect(names(again)).toEqual(names(signed));
      forJava.push({ bytes: again, expected: { a: ['Test Publisher'], b: ['Test Publisher'] } });
    }
  });

  it('by the same certificate, under another name, is added next to it', async () => {
    const both = await append(signed, { signerName: 'second' }, signer);
    expect(names(both)).toEqual(expect.arrayContaining([`${FIRST}.SF`, 'META-INF/SECOND.SF', 'META-INF/SECOND.RSA']));
    expect(await (await openBytes(jar, both)).signatures()).toHaveLength(2);
  });

  it('by another certificate of the same name gets another name', async () => {
    const namesake = await makeThrowawaySigner({ bits: 3072 });
    const both = await append(signed, {}, namesake);
    expect(names(both)).toEqual(
      expect.arrayContaining([`${FIRST}.SF`, 'META-INF/TEST_PU2.SF', 'META-INF/TEST_PU2.RSA']),
    );
    const signers = ['Test Publisher', 'Test Publisher'];
    forJava.push({ bytes: both, expected: { a: signers, b: signers } });
    expect(names(await append(both, {}, namesake)).sort()).toEqual(names(both).sort());
  });

  it('cannot have a name that another certificate has, which is found before anything is digested', async () => {
    const file = await openBytes(jar, signed);
    const context = signingContext({ chain: another.chain }, { signerName: 'test_pub' });
    const refusal = { code: 'signer-name-taken', category: 'local' };
    await expect(signingIn(file).check(context, 'append')).rejects.toMatchObject(refusal);
    await expect(signingIn(file).prepare(context, 'append')).rejects.toMatchObject(refusal);
    await expect(signingIn(file).check(context, 'replace')).resolves.toMatchObject({ requests: 1 });
  });
});

/** The plain archive with a digest of `a` in its manifest. */
function withDigest(attribute: string, digest: string): Buffer {
  return repack(plain, { [MANIFEST]: `Manifest-Version: 1.0\r\n\r\nName: a\r\n${attribute}: ${digest}\r\n\r\n` });
}

describe('no signature can be added next to', () => {
  const refused = async (bytes: Buffer, reason: RegExp) => {
    const refusal = { code: 'cannot-append', category: 'local', message: expect.stringMatching(reason) };
    await expect(append(bytes)).rejects.toMatchObject(refusal);
    // All of them can be replaced.
    const { result } = await signBytes(jar, bytes, another);
    expect(names(result).filter((name) => /\.(SF|RSA)$/.test(name))).toEqual([
      'META-INF/ANOTHER_.SF',
      'META-INF/ANOTHER_.RSA',
    ]);
  };

  it('one whose digests are SHA-1: stronger ones would break it', async () => {
    await refused(readFixture('golden/sha1-rsa2048.jar'), /GOLDEN_R\.RSA\): .* SHA-1/);
  });

  it('one of which a file was changed', async () => {
    await refused(repack(signed, { b: 'other' }), /TEST_PUB\.RSA\): /);
  });

  it('one whose manifest was changed', async () => {
    const manifest = contentsOf(signed, MANIFEST).toString().replace('Name: a\r\n', 'Name: a\r\nX: 1\r\n');
    const bytes = signAgain(repack(signed, { [MANIFEST]: manifest }), signer, 'TEST_PUB', (text) => text);
    await refused(bytes, /TEST_PUB\.RSA\): /);
  });

  it('one whose signature file was changed', async () => {
    const file = contentsOf(signed, `${FIRST}.SF`).toString();
    await refused(repack(signed, { [`${FIRST}.SF`]: file.replace('1.0', '2.0') }), /TEST_PUB\.RSA\): /);
  });

  it('one whose block cannot be read', async () => {
    for (const block of ['', 'not a block', contentsOf(signed, `${FIRST}.RSA`).subarray(0, 500)]) {
      await refused(repack(signed, { [`${FIRST}.RSA`]: block }), /\.(RSA|DSA|EC)\): /);
    }
  });

  it('one whose signature file cannot be read', async () => {
    await refused(
      signAgain(signed, signer, 'TEST_PUB', () => 'nonsense\r\n'),
      /\.(RSA|DSA|EC)\): /,
    );
  });

  it('one by DSA or EC under the name that the new one would have', async () => {
    for (const extension of ['DSA', 'EC']) {
      const files = [`${FIRST}.SF`, `${FIRST}.RSA`].map((name) => contentsOf(signed, name));
      const bytes = repack(plain, {}, [
        { name: 'META-INF/ANOTHER_.SF', contents: files[0] ?? '' },
        { name: `META-INF/ANOTHER_.${extension}`, contents: 'a block of another kind' },
      ]);
      await refused(bytes, /\.(RSA|DSA|EC)\): /);
    }
  });

  it('one in an archive that lost its manifest', async () => {
    await refused(repack(signed, { [MANIFEST]: undefined }), /\.(RSA|DSA|EC)\): /);
  });
});

describe('half a signature', () => {
  const leftovers = readFixture('jar/old-signature-leftovers.jar');
  const halves = ['META-INF/OTHER.SF', 'META-INF/THIRD.RSA'];

  it('is no signature, and the user is warned about it', async () => {
    const file = await openBytes(jar, leftovers);
    expect(await file.signatures()).toEqual([]);
    expect((await warningsOf(file)).filter((warning) => /OTHER|THIRD/.test(warning))).toHaveLength(2);
  });

  it('is left alone by append, and removed by replace', async () => {
    expect(names(await append(leftovers))).toEqual(expect.arrayContaining(halves));
    const replaced = names((await signBytes(jar, leftovers, signer)).result);
    expect(replaced.filter((name) => halves.includes(name))).toEqual([]);
  });

  it('is replaced by a new one of its name', async () => {
    for (const signerName of ['other', 'third']) {
      const result = await append(leftovers, { signerName });
      const base = `META-INF/${signerName.toUpperCase()}`;
      expect(
        names(result)
          .filter((name) => name.startsWith(base))
          .sort(),
      ).toEqual([`${base}.RSA`, `${base}.SF`]);
      expect(await (await openBytes(jar, result)).signatures()).toHaveLength(1);
    }
  });
});

describe('replaced', () => {
  it('are all signatures, of any kind and name, except for SIG-* files, which are unknown', async () => {
    const bytes = repack(await append(signed), {}, [
      { name: 'META-INF/OLD.SF', contents: 'x' },
      { name: 'META-INF/OLD.DSA', contents: 'x' },
      { name: 'META-INF/older.sf', contents: 'x' },
      { name: 'META-INF/Older.Ec', contents: 'x' },
      { name: 'META-INF/SIG-X', contents: 'x' },
    ]);
    const { result } = await signBytes(jar, bytes, signer, { algorithm: 'SHA384' });
    expect(names(result)).toEqual([MANIFEST, `${FIRST}.SF`, `${FIRST}.RSA`, 'a', 'b', 'META-INF/SIG-X']);
  });
});
