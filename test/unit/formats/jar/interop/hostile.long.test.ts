/** JARs made to deceive or to exhaust, and the limits of Java: what one program reads and another does not, or what costs time. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { LARGEST_MANIFEST } from '../../../../../src/formats/jar/layout.ts';
import { signingContext } from '../../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../../support/change.ts';
import { openBytes } from '../../support/sign-bytes.ts';
import { jarOf, MANIFEST, type SimpleEntry, zip } from '../simple-zip.ts';

const MAIN = 'Manifest-Version: 1.0\r\n\r\n';
const signer = await makeThrowawaySigner();
const prepare = async (bytes: Buffer) =>
  signingIn(await openBytes(jar, bytes)).prepare(signingContext({ chain: signer.chain }), 'replace');

it('what is not digested is held to what it says anyway', async () => {
  const bytes = jarOf(MAIN, { name: 'META-INF/SIG-X', contents: 'something', size: 3 });
  await expect(prepare(bytes)).rejects.toMatchObject({ code: 'zip-entry-damaged' });
});

it('an archive that would need ZIP64, with bytes after it, is rejected before a signature is requested', async () => {
  const entries = Array.from({ length: 65_532 }, (_, index) => ({ name: `${index}`, contents: '', isStored: true }));
  const bytes = Buffer.concat([jarOf(MAIN, ...entries), Buffer.alloc(1)]);
  const prepared = await prepare(bytes);
  expect(() => prepared.embed([prepared.units[0].seal(new Uint8Array(256))])).toThrowError(/ZIP64/);
});

describe('what Java opens no signed archive with', () => {
  /** `length` bytes, without sections. */
  function manifestOf(length: number): SimpleEntry {
    const line = `X: ${'y'.repeat(67)}\r\n`;
    const lines = line.repeat(Math.floor((length - 100) / line.length));
    const text = `${lines}Z: ${'z'.repeat(length - lines.length - 7)}\r\n\r\n`;
    return { name: MANIFEST, contents: text };
  }

  it('rejects a manifest of more than 16,000,000 bytes, and signs one of exactly that size', async () => {
    await expect(prepare(zip([manifestOf(LARGEST_MANIFEST)]))).resolves.toBeDefined();
    await expect(prepare(zip([manifestOf(LARGEST_MANIFEST + 1)]))).rejects.toMatchObject({
      code: 'manifest-too-large',
    });
  });

  it('a manifest that only the digests would make so large', async () => {
    const section = 'Name: a\r\nSHA-256-Digest: ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=\r\n\r\n';
    const fitting = LARGEST_MANIFEST - section.length;
    await expect(prepare(zip([manifestOf(fitting), { name: 'a', contents: 'a' }]))).resolves.toBeDefined();
    const message = expect.stringContaining(`MANIFEST.MF is ${LARGEST_MANIFEST + 1} bytes`);
    const refusal = { code: 'manifest-too-large', message };
    await expect(prepare(zip([manifestOf(fitting + 1), { name: 'a', contents: 'a' }]))).rejects.toMatchObject(refusal);
  });

  it('a signature file of more than that, although the manifest is smaller', async () => {
    // A section that says nothing is shorter than what is said of it.
    const names = Array.from({ length: 220_000 }, (_, index) => `f${index}/`);
    const contents = `X: 1\r\n\r\n${names.map((name) => `Name: ${name}\r\n\r\n`).join('')}`;
    const refusal = { code: 'manifest-too-large', message: expect.stringContaining('META-INF/TEST_PUB.SF is ') };
    await expect(prepare(zip([{ name: MANIFEST, contents }]))).rejects.toMatchObject(refusal);
  });
});
