/** Holds what is rejected before it costs anything: what Java does not open or verify, and bombs. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { LARGEST_MANIFEST } from '../../../../../src/formats/jar/layout.ts';
import { signingContext } from '../../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../../support/change.ts';
import { openBytes } from '../../support/sign-bytes.ts';
import { jarOf, MANIFEST, type SimpleEntry, zip } from '../simple-zip.ts';

const signer = await makeThrowawaySigner();

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

it('a timestamp by SHA-1 is rejected', async () => {
  const file = await openBytes(jar, jarOf('X: 1\n\n', 'a'));
  const context = signingContext({ timestampAlgorithm: 'SHA1', chain: signer.chain });
  await expect(signingIn(file).check(context, 'replace')).rejects.toMatchObject({ code: 'jar-unsigned-timestamp' });
  await expect(signingIn(file).check({ ...context, timestampAlgorithm: 'SHA256' }, 'replace')).resolves.toMatchObject({
    requests: 1,
  });
});
