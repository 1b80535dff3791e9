import { expect, it } from 'vitest';
import { cab } from '../../../../src/formats/cab/index.ts';
import { decideSigning } from '../../../../src/signing/signing-policy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { GOOD_CABINETS } from './samples.ts';

const signer = await makeThrowawaySigner();
const bytesOf = (name: string) => GOOD_CABINETS.find((each) => each.name === name)?.bytes ?? expect.unreachable();

it('is not appended to next to a signature whose timestamp verify calls broken', async () => {
  const token = Buffer.from('30020500', 'hex');
  const context = signingContext({ chain: signer.chain });
  const policy = { isAlgorithmGiven: false, allOrNothing: false, report: false } as const;
  const decide = async (existing: 'append' | 'replace', bytes: Buffer) =>
    decideSigning(await openBytes(cab, bytes), cab, context, { ...policy, existing }, { digestEntries });
  const stamped = (await signBytes(cab, bytesOf('plain.cab'), signer, { token })).result;
  const refusal = { code: 'cannot-append', message: expect.stringContaining('the timestamp cannot be read') };
  await expect(decide('append', stamped)).rejects.toMatchObject(refusal);
  expect(await decide('replace', stamped)).toMatchObject({ signatures: 1 });
});

it.each(['plain.cab', 'large.cab'])('writes a reference of 16 bytes in a reserved area: %s', async (name) => {
  const { result } = await signBytes(cab, bytesOf(name), signer);
  expect([result.readUInt16LE(40), result.readUInt16LE(42)]).toEqual([0, 16]);
  expect(result.subarray(44 + 8, 40 + result.readUInt16LE(36)).every((byte) => byte === 0)).toBe(true);
});

it('calls a cabinet broken whose blocks are unpacked from other bytes, and does not sign it', async () => {
  for (const name of ['plain.cab', 'sizes.cab']) {
    const { result } = await signBytes(cab, bytesOf(name), signer);
    // cbCFData, which no digest covers.
    result[39] = (result[39] ?? 0) + 1;
    const file = await openBytes(cab, result);
    expect(await file.examine()).toMatchObject([{ code: 'reserve-sizes-differ', weight: 'broken' }]);
    await expect(signBytes(cab, result, signer)).rejects.toMatchObject({ code: 'file-malformed' });
  }
});
