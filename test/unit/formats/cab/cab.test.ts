import { expect, it } from 'vitest';
import { cab } from '../../../../src/formats/cab/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signBytes } from '../support/sign-bytes.ts';
import { GOOD_CABINETS } from './samples.ts';

it('names a reference of 16 bytes in a reserved area of any size, and leaves zeros behind it', async () => {
  const signer = await makeThrowawaySigner();
  for (const name of ['plain.cab', 'exact.cab', 'large.cab']) {
    const bytes = GOOD_CABINETS.find((each) => each.name === name)?.bytes ?? Buffer.of();
    const { result } = await signBytes(cab, bytes, signer);
    const length = result.readUInt16LE(36);
    expect([name, result.readUInt16LE(40), result.readUInt16LE(42)]).toEqual([name, 0, 16]);
    expect(result.subarray(44 + 8, 40 + length).every((byte) => byte === 0)).toBe(true);
  }
});
