/** Holds stamping of signatures in a JAR: the block is exchanged for one with the token, and all else stays. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { forAll } from '../../../support/set-up.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { signingIn, stampIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const RSA = 'META-INF/TEST_PUB.RSA';
const plain = zip([
  { name: MANIFEST, contents: 'X: 1\r\n\r\n' },
  { name: 'a', contents: 'a' },
  { name: 'stored', contents: 'is aligned', isStored: true },
]);

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
const authority = await forAll(startTimestampAuthority());

/** Each signature with a token; `by`: the signer, or every signer if omitted. */
async function stamped(bytes: Buffer, by?: string): Promise<Buffer> {
  const file = await openBytes(jar, bytes);
  const chosen = (await file.signatures()).filter(({ signer }) => by === undefined || signer.name === by);
  const tokens = await Promise.all(
    chosen.map(async (signature) => {
      const value = signature.value ?? new Uint8Array();
      return [signature, await authority.stamp(value)] as const;
    }),
  );
  const embedding = await stampIn(file, new Map(tokens));
  const result = applyPatch(bytes, embedding.patch);
  await signingIn(await openBytes(jar, result)).verify(embedding);
  return result;
}

async function timesIn(bytes: Buffer): Promise<Readonly<Record<string, number>>> {
  const signatures = await (await openBytes(jar, bytes)).signatures();
  return Object.fromEntries(signatures.map(({ signer, timestamps }) => [signer.name, timestamps.length]));
}

describe('a stamped signature', () => {
  it('is the same as one that was stamped when it was made', async () => {
    for (const name of ['plain', 'manifest-sections', 'descriptors-64']) {
      const bytes = readFixture(`jar/${name}.jar`);
      const file = await openBytes(jar, bytes);
      const prepared = await signingIn(file).prepare(signingContext({ chain: signer.chain }), 'replace');
      const [unit] = prepared.units;
      const value = signer.signDigest(unit.digest, 'SHA256');
      const token = await authority.stamp(value);
      const wanted = applyPatch(bytes, prepared.embed([unit.seal(value, token)]).patch);
      const { result } = await signBytes(jar, bytes, signer);
      const signed = await openBytes(jar, result);
      const [signature] = await signed.signatures();
      if (signature === undefined) throw new Error('there is no signature');
      expect(applyPatch(result, (await stampIn(signed, new Map([[signature, token]]))).patch)).toEqual(wanted);
    }
  });

  it('of two is stamped alone, or both are', async () => {
    const first = await signBytes(jar, plain, signer);
    const { result } = await signBytes(jar, first.result, another, { mode: 'append' });
    const one = await stamped(result, 'Test Publisher');
    expect(await timesIn(one)).toEqual({ 'Test Publisher': 1, 'Another Publisher': 0 });
    expect(contentsOf(one, 'META-INF/ANOTHER_.RSA')).toEqual(contentsOf(result, 'META-INF/ANOTHER_.RSA'));
    const both = await stamped(result);
    expect(await timesIn(both)).toEqual({ 'Test Publisher': 1, 'Another Publisher': 1 });
    expect(await timesIn(await stamped(both))).toEqual({ 'Test Publisher': 1, 'Another Publisher': 1 });
    const names = (bytes: Buffer) => unzip(bytes).map(({ name }) => name);
    for (const bytes of [one, both]) expect(names(bytes)).toEqual(names(result));
    for (const bytes of [one, both]) expect(bytes.indexOf('is aligned') % 4).toBe(plain.indexOf('is aligned') % 4);
  });

  it('keeps its place where that is not at the beginning, and its name', async () => {
    const { result } = await signBytes(jar, plain, signer);
    const block = contentsOf(result, RSA);
    const bytes = repack(result, { [RSA]: undefined }, [{ name: 'META-INF/Test_Pub.rsa', contents: block }]);
    const after = await stamped(bytes);
    expect(unzip(after).map(({ name }) => name)).toEqual(unzip(bytes).map(({ name }) => name));
    expect(await timesIn(after)).toEqual({ 'Test Publisher': 1 });
  });

  it('keeps a name that is not ASCII', async () => {
    const { result } = await signBytes(jar, plain, signer);
    const renamed = zip(
      unzip(result).map(({ name, contents }) => ({ name: name.replace('TEST_PUB', 'ПОДПИСЬ'), contents })),
    );
    const after = await stamped(renamed);
    expect(unzip(after).map(({ name }) => name)).toContain('META-INF/ПОДПИСЬ.RSA');
    const at = after.lastIndexOf('META-INF/ПОДПИСЬ.RSA');
    expect(after.readUInt16LE(at - 46 + 8)).toBe(0x0800);
  });
});

describe('stamping', () => {
  it('with SHA-1 is rejected: it would make an unsigned archive of a signed one', async () => {
    const { result } = await signBytes(jar, plain, signer);
    const file = await openBytes(jar, result);
    const [signature] = await file.signatures();
    if (signature === undefined) throw new Error('there is no signature');
    const token = await authority.stamp(signature.value ?? plain, { algorithm: 'sha1' });
    await expect(stampIn(file, new Map([[signature, token]]))).rejects.toMatchObject({
      code: 'jar-unsigned-timestamp',
    });
  });
});
