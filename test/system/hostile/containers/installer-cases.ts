/** Hostile installer files: chains and trees that run in circles or into each other, and tables of any size. */

import { randomInt } from 'node:crypto';
import { newStream } from '../../../../src/compound-file/write.ts';
import { makeCompoundFile, storage } from '../../../unit/formats/msi/samples.ts';
import { LARGEST_BOUNDS, USUAL_BOUNDS } from '../bounds.ts';
import { listed } from '../cases.ts';
import { type ContainerCase, casesOf } from './container-cases.ts';

const MEBIBYTE = 1024 * 1024;
const END = 0xffff_fffe;
const FREE = 0xffff_ffff;
const STREAM = Buffer.alloc(8000, 'x');
const installer = casesOf('hostile.msi');

/** Of version 3, with its sectors by number. */
interface Compound {
  readonly bytes: Buffer;
  offsetOf(sector: number): number;
  setFat(sector: number, next: number): void;
  /** Offset of a directory entry. */
  entry(name: string): number;
}

function compound(
  children = [newStream('Large', STREAM), newStream('Other', STREAM), newStream('Small', STREAM.subarray(0, 200))],
): Compound {
  const bytes = makeCompoundFile({ children });
  const offsetOf = (sector: number) => (sector + 1) * 512;
  return {
    bytes,
    offsetOf,
    setFat: (sector, next) => bytes.writeUInt32LE(next, offsetOf(bytes.readUInt32LE(76)) + sector * 4),
    entry: (name) => bytes.indexOf(Buffer.from(`${name}\0`, 'utf16le'), offsetOf(bytes.readUInt32LE(48))),
  };
}

/** Circles, shared sectors and chains that are too short are in MALFORMED_INSTALLERS of the unit tests. */
function lying(what: string, change: (file: Compound) => unknown): ContainerCase {
  return installer(what, 'file-malformed', () => {
    const file = compound();
    change(file);
    return file.bytes;
  });
}

/**
 * A file whose FAT says that all sectors behind it are one chain. Header and FAT take 16 MiB of 2 GiB. `refer` makes the
 * header or the root refer to that chain.
 */
function oneChain(refer: (header: Buffer, root: Buffer, first: number, count: number) => void): Buffer {
  const count = 2 ** 31 / 512 - 1;
  const fatCount = Math.ceil(count / 128);
  const difatCount = Math.ceil((fatCount - 109) / 127);
  const header = compound().bytes.subarray(0, 512);
  const directory = 1 + difatCount + fatCount;
  const root = Buffer.from(
    compound().bytes.subarray(compound().entry('Root Entry'), compound().entry('Root Entry') + 128),
  );
  for (const offset of [68, 72, 76]) root.writeUInt32LE(FREE, offset);
  root.writeUInt32LE(END, 116);
  root.writeUInt32LE(0, 120);
  const fatSectors = listed(fatCount, (index) => 1 + difatCount + index);
  header.writeUInt32LE(fatCount, 44);
  header.writeUInt32LE(0, 48);
  header.writeUInt32LE(1, 68);
  header.writeUInt32LE(difatCount, 72);
  for (let index = 0; index < 109; index += 1) header.writeUInt32LE(fatSectors[index] ?? FREE, 76 + index * 4);
  const difat = Buffer.alloc(difatCount * 512, 0xff);
  for (let index = 0; index < difatCount; index += 1) {
    for (let at = 0; at < 127; at += 1)
      difat.writeUInt32LE(fatSectors[109 + index * 127 + at] ?? FREE, index * 512 + at * 4);
    difat.writeUInt32LE(index + 1 < difatCount ? index + 2 : END, index * 512 + 508);
  }
  const fat = Buffer.alloc(fatCount * 512, 0xff);
  for (let sector = directory; sector < count - 1; sector += 1) fat.writeUInt32LE(sector + 1, sector * 4);
  fat.writeUInt32LE(END, 0);
  fat.writeUInt32LE(END, (count - 1) * 4);
  refer(header, root, directory, count - directory);
  return Buffer.concat([header, root, Buffer.alloc(512 - root.length), difat, fat]);
}

/** Each sector of the stream is anywhere in the file. */
function scattered(): Buffer {
  const file = compound([newStream('Large', Buffer.alloc(18 * MEBIBYTE, 'x'))]);
  const count = (18 * MEBIBYTE) / 512;
  const order = listed(count, (index) => index);
  for (let index = count - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    [order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0];
  }
  for (const [index, sector] of order.entries()) file.setFat(sector, order[index + 1] ?? END);
  file.bytes.writeUInt32LE(order[0] ?? 0, file.entry('Large') + 116);
  return file.bytes;
}

function nested(depth: number): Buffer {
  let inner = [newStream('x', Buffer.from('x'))] as Parameters<typeof compound>[0];
  for (let level = 0; level < depth; level += 1) inner = [storage('s', 1, '00'.repeat(16), inner ?? [])] as never;
  return makeCompoundFile({ children: inner ?? [] });
}

/** A tree of the directory in which each entry has one child alone. */
function chainOfEntries(): Buffer {
  const count = 100_000;
  const bytes = manyStreams(count);
  const directory = (bytes.readUInt32LE(48) + 1) * 512;
  bytes.writeUInt32LE(1, directory + 76);
  for (let id = 1; id <= count; id += 1) {
    bytes.writeUInt32LE(FREE, directory + id * 128 + 68);
    bytes.writeUInt32LE(id < count ? id + 1 : FREE, directory + id * 128 + 72);
  }
  return bytes;
}

function manyStreams(count: number): Buffer {
  return makeCompoundFile({
    children: listed(count, (index) => newStream(`A stream of some name ${index}`, Buffer.of())),
  });
}

const LARGE = { bounds: LARGEST_BOUNDS };
const HUGE = { size: 2 ** 31 };

export const INSTALLER_CASES: readonly ContainerCase[] = [
  lying('sectors of the mini FAT that run in a circle', ({ bytes, setFat }) => {
    setFat(bytes.readUInt32LE(60), bytes.readUInt32LE(60));
    bytes.writeUInt32LE(10, 64);
  }),
  lying('small streams of 4 GiB', ({ bytes, entry }) => bytes.writeUInt32LE(FREE, entry('Root Entry') + 120)),
  lying('4 billion FAT sectors', ({ bytes }) => bytes.writeUInt32LE(FREE, 44)),
  installer('130,000 streams', 'planned', () => manyStreams(130_000), LARGE),
  installer('132,000 streams', 'file-malformed', () => manyStreams(132_000)),
  installer('100,000 entries, each below the one before', 'planned', chainOfEntries, LARGE),
  installer('storages in storages, 30 deep', 'planned', () => nested(30)),
  installer('storages in storages, 40 deep', 'file-malformed', () => nested(40)),
  installer('a stream whose sectors are all over the file', 'planned', scattered, {
    bounds: { ...USUAL_BOUNDS, times: 20 },
  }),
  installer(
    'a directory of 2 GiB',
    'file-malformed',
    () => oneChain((header, _root, first) => header.writeUInt32LE(first, 48)),
    HUGE,
  ),
  installer(
    'a mini FAT of 2 GiB',
    'planned',
    () =>
      oneChain((header, _root, first, count) => {
        header.writeUInt32LE(first, 60);
        header.writeUInt32LE(count, 64);
      }),
    HUGE,
  ),
  installer(
    'small streams of 2 GiB',
    'file-malformed',
    () =>
      oneChain((_header, root, first, count) => {
        root.writeUInt32LE(first, 116);
        root.writeUInt32LE(count * 512, 120);
      }),
    HUGE,
  ),
];
