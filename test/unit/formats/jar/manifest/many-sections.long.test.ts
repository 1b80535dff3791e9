/** Holds that a manifest with more sections of one name than a call may have arguments is verified, listed and signed. */

import { expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { codesOf } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from '../interop/signed-again.ts';
import { jarOf } from '../simple-zip.ts';

it('signs and verifies 130,000 sections of one name', async () => {
  const signer = await makeThrowawaySigner();
  const bytes = jarOf(`Manifest-Version: 1.0\r\n\r\n${'Name: a\r\n\r\n'.repeat(130_000)}`, 'a');
  expect(bytes.length).toBeLessThan(10_000);
  const { result } = await signBytes(jar, bytes, signer, { signerName: 'TEST' });
  const bySections = signAgain(result, signer, 'TEST', withoutWholeDigest);
  const [signature] = await (await openBytes(jar, bySections)).signatures();
  expect(await codesOf(signature)).toEqual([]);
  expect(await signature?.details()).toContainEqual({ name: 'files covered', value: '1 of 1' });
  expect(signature?.algorithm).toBe('SHA256');
  await expect(signBytes(jar, bySections, signer, { mode: 'append', signerName: 'OTHER' })).resolves.toBeDefined();
});
