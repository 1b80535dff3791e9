/** Extensions of Business Central, and broken ones. */

import { flipped } from '../../../support/flipped.ts';
import { type Fixture, malformed, withWord } from '../support/fixtures.ts';

export function makeExtension(content: Buffer): Buffer {
  const header = Buffer.alloc(40, 0x11);
  header.write('NAVX', 0, 'latin1');
  header.writeUInt32LE(40, 4);
  header.writeUInt32LE(2, 8);
  header.writeBigUInt64LE(BigInt(content.length), 28);
  header.write('NAVX', 36, 'latin1');
  return Buffer.concat([header, content]);
}

const CONTENT = Buffer.from('PK\x03\x04 stands for a package');
const sound = makeExtension(CONTENT);
const good = (name: string, what: string, content: Buffer): Fixture => ({
  ...{ name, what, appendCode: 'cannot-append' },
  bytes: makeExtension(content),
});

export const GOOD_EXTENSIONS: readonly Fixture[] = [
  good('plain.app', 'a package', CONTENT),
  good('runtime.app', 'an encrypted package of an odd length', Buffer.alloc(5001, 0x5a)),
];

function withBlock(offset: number, end: string): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(offset);
  return Buffer.concat([sound, Buffer.from('NXSB\x30\x00'), bytes, Buffer.from(end)]);
}

export const MALFORMED_EXTENSIONS: readonly Fixture[] = [
  malformed('file-truncated', 'head.app', 'a part of a header', sound.subarray(0, 39)),
  malformed('file-truncated', 'cut.app', 'a package that was cut', sound.subarray(0, sound.length - 1)),
  malformed('file-truncated', 'long.app', 'a length of more than 32 bits', withWord(sound, 32, 1)),
  malformed('file-malformed', 'header.app', 'a header of another length', withWord(sound, 4, 44)),
  malformed('file-malformed', 'mark.app', 'a header without its second mark', withWord(sound, 36, 0)),
  malformed('trailing-bytes', 'tail.app', 'bytes behind it', Buffer.concat([sound, Buffer.alloc(20, 1)])),
  malformed('file-malformed', 'place.app', 'a signature of another place', withBlock(sound.length + 1, 'NXSB')),
  malformed('file-malformed', 'end.app', 'a signature without its second mark', withBlock(sound.length, 'NXSA')),
];

/** The same extension with a byte changed: in the header, and the last one of the package. */
export const changedExtensions = async (result: Buffer) =>
  [12, 39 + Number(result.readBigUInt64LE(28))].map((offset) => flipped(result, offset));
