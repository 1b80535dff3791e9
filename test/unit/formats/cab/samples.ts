/** Cabinets with a header of every shape, and broken ones. */

import { type CabShape, makeCab } from '../../../support/containers/make-cab.ts';
import { flipped } from '../../../support/flipped.ts';
import { type Fixture, malformed, withWord } from '../support/fixtures.ts';

const data = Buffer.from('Hello from a cabinet.\r\n');
const size = data.length;

/** One stored file in one folder. */
export function makeCabinet(shape: Partial<CabShape> = {}): Buffer {
  return makeCab({ folders: [{ blocks: [{ data, size }] }], files: [{ name: 'hello.txt', size }], ...shape });
}

const good = (name: string, what: string, shape: Partial<CabShape>): Fixture => ({
  name,
  what,
  bytes: makeCabinet(shape),
});

export const GOOD_CABINETS: readonly Fixture[] = [
  good('plain.cab', 'no reserved area', {}),
  good('sizes.cab', 'reserved areas of folders and data alone', { perFolder: 5, perData: 7 }),
  good('small.cab', 'a reserved area that is too small', { header: Buffer.alloc(8) }),
  good('exact.cab', 'a reserved area of the right size', { header: Buffer.alloc(20), perData: 1 }),
  good('large.cab', 'a reserved area of 6144 bytes', { header: Buffer.alloc(6144) }),
  good('block1.cab', 'a first block of another program', {
    header: Buffer.from(`0300${'1000'}aabbcc${'00'.repeat(16)}`, 'hex'),
  }),
  good('set.cab', 'the second cabinet of a set', { previous: 'one.cab', next: 'three.cab', number: 1 }),
];

const plain = makeCabinet();

const withReserve = (hex: string) => makeCabinet({ header: Buffer.from(hex, 'hex') });
const ELSEWHERE = withReserve(`00001000${'10000000'}${'08000000'}${'00'.repeat(8)}`);
const WHOLE = withReserve(`00001400${'3082'}${'01'.repeat(18)}`);

export const MALFORMED_CABINETS: readonly Fixture[] = [
  malformed('file-truncated', 'cut.cab', 'a cabinet that was cut', plain.subarray(0, plain.length - 1)),
  malformed('file-truncated', 'head.cab', 'a part of a header', plain.subarray(0, 20)),
  malformed('trailing-bytes', 'tail.cab', 'bytes behind it', Buffer.concat([plain, Buffer.of(0)])),
  malformed('file-malformed', 'files.cab', 'a file table in the header', withWord(plain, 16, 8)),
  malformed('file-malformed', 'folder.cab', 'a folder whose data is after the end', withWord(plain, 36, 1 << 20)),
  malformed('cabinet-reserve-in-use', 'used.cab', 'a reserved area in use', withReserve('07'.repeat(20))),
  malformed('file-malformed', 'elsewhere.cab', 'a reference to a signature that is not at the end', ELSEWHERE),
  malformed('file-malformed', 'whole-in-reserve.cab', 'a signature in the reserved area, as in old files', WHOLE),
  malformed('file-malformed', 'names.cab', 'a name that does not end', makeCabinet({ next: 'x'.repeat(2000) })),
];

/** The same cabinet with a byte changed: in the header, and the last one of the content. */
export const changedCabinets = async (result: Buffer) =>
  [32, result.readUInt32LE(8) - 1].map((offset) => flipped(result, offset));
