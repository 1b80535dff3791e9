/** Holds what is rejected before it costs anything: what Java does not open or verify, and bombs. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { LARGEST_MANIFEST } from '../../../../../src/formats/jar/layout.ts';
import { signingContext } from '../../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { checkIn, signingIn } from '../../support/change.ts';
import { isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { jarOf, MANIFEST, type SimpleEntry, zip } from '../simple-zip.ts';
import { signAgain, withoutWholeDigest } from './signed-again.ts';

const signer = await makeThrowawaySigner();

it('a signature of 100 MB that is packed into 100 kB is none that can be read, and is not unpacked', async () => {
  const contents = Buffer.alloc(100_000_000, 'a');
  const files = ['META-INF/X.SF', 'META-INF/X.RSA'].map((name) => ({ name, contents }));
  const bomb = zip([{ name: MANIFEST, contents: 'X: 1\n\n' }, ...files]);
  const before = process.memoryUsage().arrayBuffers;
  const file = await openBytes(jar, bomb);
  const [signature, ...others] = await file.signatures();
  expect(others).toEqual([]);
  expect(signature).toMatchObject({ signer: { name: '(unreadable signature)', certificate: undefined } });
  expect(await isIntact(signature)).toBe(false);
  const append = checkIn(file, jar, signingContext({ chain: signer.chain }), 'append');
  await expect(append).rejects.toMatchObject({ code: 'cannot-append' });
  await signingIn(file).check(signingContext({ chain: signer.chain }), 'replace');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000);
});

describe('what Java opens no signed archive with', () => {
  /** `length` bytes, without sections. */
  function manifestOf(length: number): SimpleEntry {
    const line = `X: ${'y'.repeat(67)}\r\n`;
    const lines = line.repeat(Math.floor((length - 100) / line.length));
    const text = `${lines}Z: ${'z'.repeat(length - lines.length - 7)}\r\n\r\n`;
    return { name: MANIFEST, contents: text };
  }
  const prepare = async (entries: readonly SimpleEntry[]) =>
    signingIn(await openBytes(jar, zip(entries))).prepare(signingContext({ chain: signer.chain }), 'replace');

  it('rejects a manifest of more than 16,000,000 bytes, and signs one of exactly that size', async () => {
    await expect(prepare([manifestOf(LARGEST_MANIFEST)])).resolves.toBeDefined();
    await expect(prepare([manifestOf(LARGEST_MANIFEST + 1)])).rejects.toMatchObject({ code: 'manifest-too-large' });
  });

  it('a manifest that only the digests would make so large', async () => {
    const section = 'Name: a\r\nSHA-256-Digest: ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=\r\n\r\n';
    const fitting = LARGEST_MANIFEST - section.length;
    await expect(prepare([manifestOf(fitting), { name: 'a', contents: 'a' }])).resolves.toBeDefined();
    const refusal = {
      code: 'manifest-too-large',
      message: expect.stringContaining(`MANIFEST.MF is ${LARGEST_MANIFEST + 1} bytes`),
    };
    await expect(prepare([manifestOf(fitting + 1), { name: 'a', contents: 'a' }])).rejects.toMatchObject(refusal);
  });

  it('a signature file of more than that, although the manifest is smaller', async () => {
    // A section that says nothing is shorter than what is said of it.
    const names = Array.from({ length: 220_000 }, (_, index) => `f${index}/`);
    const contents = `X: 1\r\n\r\n${names.map((name) => `Name: ${name}\r\n\r\n`).join('')}`;
    const refusal = { code: 'manifest-too-large', message: expect.stringContaining('META-INF/TEST_PUB.SF is ') };
    await expect(prepare([{ name: MANIFEST, contents }])).rejects.toMatchObject(refusal);
  });
});

it('examines quickly a signature file that speaks of one large section again and again', {
  timeout: 10_000,
}, async () => {
  const attributes = Array.from({ length: 60_000 }, (_, index) => `X${index}: ${'x'.repeat(50)}\r\n`).join('');
  const contents = `X: 1\r\n\r\nName: a\r\n${attributes}\r\n`;
  const { result } = await signBytes(jar, jarOf(contents, 'a'), signer);
  const again = signAgain(result, signer, 'TEST_PUB', (text) => {
    const [main = '', section = ''] = withoutWholeDigest(text).split('\r\n\r\n');
    return `${main}\r\n\r\n${`${section}\r\n\r\n`.repeat(50_000)}`;
  });
  const [signature] = await (await openBytes(jar, again)).signatures();
  expect(await isIntact(signature)).toBe(true);
});

it('a timestamp by SHA-1 is rejected', async () => {
  const file = await openBytes(jar, jarOf('X: 1\n\n', 'a'));
  const context = signingContext({ timestampAlgorithm: 'SHA1', chain: signer.chain });
  await expect(signingIn(file).check(context, 'replace')).rejects.toMatchObject({ code: 'jar-unsigned-timestamp' });
  await expect(signingIn(file).check({ ...context, timestampAlgorithm: 'SHA256' }, 'replace')).resolves.toMatchObject({
    requests: 1,
  });
});
