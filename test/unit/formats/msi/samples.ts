/** Compound files with the root of an installer package, and broken ones. */

import { isBytes } from '../../../../src/bytes/pieces.ts';
import type { CompoundNode, CompoundStorage, Version } from '../../../../src/compound-file/format.ts';
import { layOut, newStream } from '../../../../src/compound-file/write.ts';
import { flipped } from '../../../support/flipped.ts';
import { type Fixture, withWord } from '../support/fixtures.ts';

const PACKAGE = '84100c0000000000c000000000000046';
const LARGE = 'The content of a large stream. ';
const SMALL = 'The content of a small stream, which takes more than one sector of the mini stream.';

export function storage(name: string, type: number, clsid: string, children: readonly CompoundNode[]): CompoundStorage {
  const encoded = Buffer.from(name, 'utf16le');
  const entry = Buffer.alloc(128);
  entry.set(encoded);
  entry.writeUInt16LE(encoded.length + 2, 64);
  entry[66] = type;
  entry.set(Buffer.from(clsid, 'hex'), 80);
  entry.writeUInt32LE(0x1234, 96);
  if (type === 1) entry.writeBigUInt64LE(0x01d8_0000_0000_0000n, 100);
  return { kind: 'storage', name: encoded, entry, children };
}

export function installerHeader(version: Version): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.set(Buffer.from('d0cf11e0a1b11ae1', 'hex'));
  for (const [index, word] of [0x3e, version, 0xfffe, version === 3 ? 9 : 12, 6].entries()) {
    bytes.writeUInt16LE(word, 24 + index * 2);
  }
  bytes.writeUInt32LE(4096, 56);
  return bytes;
}

export interface CompoundShape {
  readonly version?: Version;
  readonly clsid?: string;
  readonly children?: readonly CompoundNode[];
}

export function packageRoot(children: readonly CompoundNode[], clsid = PACKAGE): CompoundStorage {
  return storage('Root Entry', 5, clsid, children);
}

/** As the writer of the program lays it out; other programs read it in the long tests. */
export function makeCompoundFile({ version = 3, clsid = PACKAGE, children = streams() }: CompoundShape = {}): Buffer {
  const root = packageRoot(children, clsid);
  return Buffer.concat(
    [...layOut({ version, header: installerHeader(version) }, root)].map((piece) => {
      if (isBytes(piece)) return piece;
      throw new TypeError('there is no file to take a range of');
    }),
  );
}

function streams(): CompoundNode[] {
  return [
    newStream('Large', Buffer.from(LARGE.repeat(300))),
    newStream('Small', Buffer.from(SMALL)),
    newStream('Empty', Buffer.alloc(0)),
    storage('Inner', 1, '82100c0000000000c000000000000046', [
      newStream('\x05DigitalSignature', Buffer.from('content, since it is not in the root')),
      newStream('b', Buffer.from('x')),
      newStream('B2', Buffer.from('y')),
    ]),
    newStream('\u4840\u3f3f', Buffer.alloc(4096, 7)),
  ];
}

const good = (name: string, what: string, shape: CompoundShape): Fixture => ({
  ...{ name, what, bytes: makeCompoundFile(shape) },
});

const many = Array.from({ length: 100 }, (_, index) => newStream(`Stream ${index}`, Buffer.from(SMALL)));

export const GOOD_INSTALLERS: readonly Fixture[] = [
  good('one.msi', 'one small stream', { children: [newStream('Small', Buffer.from(SMALL))] }),
  good('three.msi', 'version 3', {}),
  good('four.msi', 'version 4', { version: 4 }),
  good('many.msi', 'a directory of many sectors', { children: many }),
];

const sound = makeCompoundFile();
const offsetOf = (sector: number) => (sector + 1) * 512;
const fat = offsetOf(sound.readUInt32LE(76));
const miniFat = offsetOf(sound.readUInt32LE(60));
const directory = offsetOf(sound.readUInt32LE(48));
function entryOf(name: string): number {
  return sound.indexOf(Buffer.from(`${name}\0`, 'utf16le'), directory);
}

const changed = (offset: number, word: number) => withWord(sound, offset, word);

function renamed(name: string, other: string): Buffer {
  const bytes = Buffer.from(sound);
  bytes.write(other, entryOf(name), 'utf16le');
  return bytes;
}

/** Says that it has 400 FAT sectors, which take three DIFAT sectors: the first one is its own next one. */
function difatLoop(): Buffer {
  const bytes = Buffer.concat([sound, Buffer.alloc(401 * 512 - sound.length)]);
  bytes.writeUInt32LE(400, 44);
  bytes.writeUInt32LE(1, 68);
  bytes.writeUInt32LE(3, 72);
  bytes.writeUInt32LE(1, offsetOf(2) - 4);
  return bytes;
}

const broken = (name: string, what: string, bytes: Buffer, code = 'file-malformed'): Fixture => ({
  ...{ name, what, bytes, code },
});
const largeStart = sound.readUInt32LE(entryOf('Large') + 116);
const smallStart = sound.readUInt32LE(entryOf('Small') + 116);
const directoryStart = sound.readUInt32LE(48);
const firstChild = sound.readUInt32LE(directory + 76);
const shared = changed(entryOf('\u4840\u3f3f') + 116, largeStart + 1);
const letter = makeCompoundFile({ clsid: '00'.repeat(16), children: [newStream('WordDocument', Buffer.from('x'))] });

export const MALFORMED_INSTALLERS: readonly Fixture[] = [
  broken('version.msi', 'an unknown version', changed(26, 0xfffe_0005)),
  broken('fat-loop.msi', 'a stream that runs in a circle', changed(fat + largeStart * 4, largeStart)),
  broken('short.msi', 'a stream whose chain is too short', changed(fat + largeStart * 4, 0xffff_fffe)),
  broken('shared.msi', 'two streams on one sector', shared),
  broken('beyond.msi', 'a stream that is longer than the file', changed(entryOf('Large') + 120, 1 << 20)),
  broken('mini-loop.msi', 'a small stream that runs in a circle', changed(miniFat + smallStart * 4, smallStart)),
  broken('tree-loop.msi', 'a directory that runs in a circle', changed(entryOf('Small') + 68, firstChild)),
  broken('fat-count.msi', 'more FAT sectors than sectors', changed(44, 1000)),
  broken('difat-loop.msi', 'a DIFAT that runs in a circle', difatLoop()),
  broken('directory-loop.msi', 'a directory in a circle', changed(fat + directoryStart * 4, directoryStart)),
  broken('directory.msi', 'a directory that is nowhere', changed(48, 0xffff_fffe)),
  broken('order.msi', 'a name that is not in its place in the directory', renamed('Empty', 'Xmpty')),
  broken('other-case.msi', 'names that differ in case alone', renamed('Large', 'sMALL')),
  broken('nul.msi', 'a name with a NUL in it', renamed('Small', 'Sm\0ll')),
  ...[
    storage('\x05DigitalSignature', 1, PACKAGE, []),
    newStream('\x05digitalSignature', Buffer.from('x')),
    newStream('\x05MSIDigitalSignatureEx', Buffer.from('x')),
  ].map((child, index) =>
    broken(`signature-${index}.msi`, 'the signature is something else', makeCompoundFile({ children: [child] })),
  ),
  broken('cut.msi', 'a file that was cut', sound.subarray(0, directory + 128)),
  broken('head.msi', 'a part of a header', sound.subarray(0, 300), 'file-truncated'),
  broken('letter.doc', 'a Word document', letter, 'not-an-installer-file'),
];

/** The same file with a byte of each kind of stream changed. */
export async function changedInstallers(result: Buffer): Promise<readonly Buffer[]> {
  const offsets = [LARGE, SMALL].map((text) => result.indexOf(text)).filter((offset) => offset >= 0);
  return offsets.map((offset) => flipped(result, offset));
}
