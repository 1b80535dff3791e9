import { expect, it } from 'vitest';
import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import { navx } from '../../../../src/formats/navx/index.ts';
import { readLayout } from '../../../../src/formats/navx/open-navx.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { codesIn } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { GOOD_EXTENSIONS } from './samples.ts';

const [{ bytes } = expect.unreachable()] = GOOD_EXTENSIONS;
const { result, sealed } = await signBytes(navx, bytes, await makeThrowawaySigner());

it('has a block in a special form after the package, with the length of the package in it', async () => {
  const offset = Buffer.from(Uint32Array.of(bytes.length).buffer);
  expect(result).toEqual(Buffer.concat([bytes, Buffer.from('NXSB'), sealed, offset, Buffer.from('NXSB')]));
});

it('is intact whatever GUID the signature has, and not with bytes after the CMS', async () => {
  const hidden = Buffer.concat([result.subarray(0, -8), Buffer.alloc(5, 1), result.subarray(-8)]);
  const file = await openBytes(navx, hidden);
  expect((await file.examine()).map(({ code }) => code)).toEqual(['hidden-bytes']);
  const other = Buffer.from(result);
  other.writeUInt8(0, result.indexOf(Buffer.from('3ea0ff36', 'hex')));
  // The digest of the content that holds the GUID is no longer the signed one, and nothing else is found.
  expect(await codesIn(navx, other)).toEqual(['message-digest-differs']);
});

it('is refused if the package ends beyond 4 GiB', async () => {
  const size = 2 ** 32 + 60;
  const header = Buffer.from(bytes.subarray(0, 40));
  header.writeBigUInt64LE(BigInt(size - 40), 28);
  const source: ByteSource = {
    size,
    read: async (offset, length) => header.subarray(offset, offset + length),
    stream: async function* () {},
  };
  await expect(readLayout(source)).rejects.toMatchObject({ code: 'file-too-large' });
});
