import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import type { StampOptions } from '../../../support/services/timestamp-desk.ts';
import { forAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { signingIn, stampIn } from '../support/change.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, jarOf, namesIn, renamed, repack } from './simple-zip.ts';

const RSA = 'META-INF/TEST_PUB.RSA';
const plain = jarOf('X: 1\r\n\r\n', 'a', { name: 'stored', contents: 'is aligned', isStored: true });

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
const authority = await forAll(startTimestampAuthority());
const signed = (await signBytes(jar, plain, signer)).result;

/** Each signature with a token; `by`: the signer, or every signer if omitted. */
async function stamped(bytes: Buffer, { by = '', algorithm }: StampOptions & { by?: string } = {}): Promise<Buffer> {
  const file = await openBytes(jar, bytes);
  const chosen = (await file.signatures()).filter(({ signer }) => signer.name.startsWith(by));
  const tokens = chosen.map(
    async (signature) =>
      [signature, await authority.stamp(signature.value ?? plain, algorithm && { algorithm })] as const,
  );
  const embedding = await stampIn(file, new Map(await Promise.all(tokens)));
  const result = applyPatch(bytes, embedding.patch);
  await signingIn(await openBytes(jar, result)).verify(embedding);
  return result;
}

async function timesIn(bytes: Buffer): Promise<Readonly<Record<string, number>>> {
  const signatures = await (await openBytes(jar, bytes)).signatures();
  return Object.fromEntries(signatures.map(({ signer, timestamps }) => [signer.name, timestamps.length]));
}

describe('a stamped signature', () => {
  it('is as if stamped when it was made', async () => {
    const file = await openBytes(jar, signed);
    const [signature = expect.unreachable()] = await file.signatures();
    const token = await authority.stamp(signature.value ?? plain);
    const { result } = await signBytes(jar, plain, signer, { token });
    expect(applyPatch(signed, (await stampIn(file, new Map([[signature, token]]))).patch)).toEqual(result);
  });

  it('of two is stamped alone, or both are', async () => {
    const { result } = await signBytes(jar, signed, another, { mode: 'append' });
    const one = await stamped(result, { by: 'Test Publisher' });
    expect(await timesIn(one)).toEqual({ 'Test Publisher': 1, 'Another Publisher': 0 });
    expect(contentsOf(one, 'META-INF/ANOTHER_.RSA')).toEqual(contentsOf(result, 'META-INF/ANOTHER_.RSA'));
    const both = await stamped(await stamped(result));
    expect(await timesIn(both)).toEqual({ 'Test Publisher': 1, 'Another Publisher': 1 });
    for (const bytes of [one, both]) expect(namesIn(bytes)).toEqual(namesIn(result));
  });

  it('keeps its place where that is not at the beginning, and its name, also one that is not ASCII', async () => {
    const block = { name: 'META-INF/Test_Pub.rsa', contents: contentsOf(signed, RSA) };
    for (const bytes of [repack(signed, { [RSA]: undefined }, [block]), renamed(signed, 'TEST_PUB', 'ПОДПИСЬ')]) {
      const after = await stamped(bytes);
      expect(namesIn(after)).toEqual(namesIn(bytes));
      expect(await timesIn(after)).toEqual({ 'Test Publisher': 1 });
    }
  });

  it('by SHA-1 is rejected: it would make an unsigned archive of a signed one', async () => {
    await expect(stamped(signed, { algorithm: 'sha1' })).rejects.toMatchObject({ code: 'jar-unsigned-timestamp' });
  });
});
