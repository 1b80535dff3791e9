import { expect, it } from 'vitest';
import { cab } from '../../../../src/formats/cab/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { GOOD_CABINETS } from './samples.ts';

const signer = await makeThrowawaySigner();
const bytesOf = (name: string) => GOOD_CABINETS.find((each) => each.name === name)?.bytes ?? expect.unreachable();

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
