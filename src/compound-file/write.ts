import { lazyPieces, type Piece, part, pieceLength } from '../bytes/pieces.ts';
import {
  type CompoundFile,
  type CompoundNode,
  type CompoundStorage,
  type CompoundStream,
  compareNames,
  DIFAT_SECTOR,
  END_OF_CHAIN,
  ENTRY_LENGTH,
  FAT_SECTOR,
  FREE,
  HEADER_FAT_SECTORS,
  HEADER_LENGTH,
  MINI_CUTOFF,
  MINI_SECTOR_LENGTH,
  NO_STREAM,
  RANGE_LOCK_SECTOR,
  SECTOR_LENGTH,
  SIZE_LIMIT,
  TYPE_STREAM,
  type Version,
} from './format.ts';
import { tooLarge } from './sectors.ts';

export function newStream(name: string, bytes: Uint8Array): CompoundStream {
  const encoded = Buffer.from(name, 'utf16le');
  const entry = Buffer.alloc(ENTRY_LENGTH);
  entry.set(encoded);
  entry.writeUInt16LE(encoded.length + 2, 64);
  entry[66] = TYPE_STREAM;
  return { kind: 'stream', name: encoded, entry, size: bytes.length, content: [bytes] };
}

/**
 * Writes large streams, the mini stream, large streams marked as last, mini FAT, directory, FAT and DIFAT, in this order
 * and without gaps. The result depends only on the tree, not on the layout of the original file.
 */
export function layOut(
  { version, header }: Pick<CompoundFile, 'version' | 'header'>,
  root: CompoundStorage,
): Iterable<Piece> {
  const length = SECTOR_LENGTH[version];
  const entries = numberEntries(root);
  const streams = entries.flatMap(({ node }) => (node.kind === 'stream' ? [node] : []));
  streams.sort((a, b) => Number(a.isLast === true) - Number(b.isLast === true));
  const large = streams.filter(({ size, isLast }) => size >= MINI_CUTOFF && isLast !== true);
  const lastLarge = streams.filter(({ size, isLast }) => size >= MINI_CUTOFF && isLast === true);
  const small = streams.filter(({ size }) => size > 0 && size < MINI_CUTOFF);

  const allocation = new Allocation(version);
  const starts = new Map<CompoundNode, number>();
  for (const stream of large) starts.set(stream, allocation.take(stream.size));
  const miniFat = numberSmall(small, starts);
  const miniLength = small.reduce((sum, { size }) => sum + padded(size, MINI_SECTOR_LENGTH), 0);
  starts.set(root, allocation.take(miniLength));
  for (const stream of lastLarge) starts.set(stream, allocation.take(stream.size));
  const miniFatStart = allocation.take(miniFat.length * 4);
  const miniFatSectors = Math.ceil((miniFat.length * 4) / length);
  const directorySectors = Math.ceil((entries.length * ENTRY_LENGTH) / length);
  const directoryStart = allocation.take(directorySectors * length);
  const { fatSectors, difatSectors } = allocation.finish();

  const head = Buffer.alloc(length);
  head.set(header.subarray(0, HEADER_LENGTH));
  head.writeUInt32LE(version === 4 ? directorySectors : 0, 40);
  head.writeUInt32LE(fatSectors.length, 44);
  head.writeUInt32LE(directoryStart, 48);
  head.writeUInt32LE(miniFatStart, 60);
  head.writeUInt32LE(miniFatSectors, 64);
  head.writeUInt32LE(difatSectors[0] ?? END_OF_CHAIN, 68);
  head.writeUInt32LE(difatSectors.length, 72);
  for (let index = 0; index < HEADER_FAT_SECTORS; index += 1) {
    head.writeUInt32LE(fatSectors[index] ?? FREE, 76 + index * 4);
  }
  const directory = Buffer.alloc(directorySectors * length);
  for (const [index, each] of entries.entries()) directory.set(entryOf(each, starts, miniLength), index * ENTRY_LENGTH);
  for (let index = entries.length; index * ENTRY_LENGTH < directory.length; index += 1) {
    directory.fill(0xff, index * ENTRY_LENGTH + 68, index * ENTRY_LENGTH + 80);
  }
  const difat = difatSectors.map((_, index) => difatSector(index, length, fatSectors, difatSectors));

  return lazyPieces(function* () {
    yield head;
    yield* aroundRangeLock(version, function* () {
      for (const { content, size } of large) yield* withPadding(content, size, length);
      for (const { content, size } of small) yield* withPadding(content, size, MINI_SECTOR_LENGTH);
      yield* withPadding([], miniLength, length);
      for (const { content, size } of lastLarge) yield* withPadding(content, size, length);
      yield* withPadding([wordsOf(miniFat)], miniFat.length * 4, length, 0xff);
      yield directory;
      yield allocation.fat(fatSectors, difatSectors);
      yield* difat;
    });
  });
}

interface NumberedEntry {
  readonly node: CompoundNode;
  left: number;
  right: number;
  child: number;
  isRed: boolean;
}

/** Numbers the children of each storage consecutively by name, and builds a balanced tree from them. */
function numberEntries(root: CompoundStorage): readonly NumberedEntry[] {
  const entries: NumberedEntry[] = [unlinked(root)];
  for (let id = 0; id < entries.length; id += 1) {
    const entry = entries[id];
    if (entry?.node.kind !== 'storage') continue;
    const first = entries.length;
    for (const child of entry.node.children.toSorted((a, b) => compareNames(a.name, b.name)))
      entries.push(unlinked(child));
    entry.child = link(entries, first, entries.length, Math.floor(Math.log2(entries.length - first + 1)));
  }
  return entries;
}

const unlinked = (node: CompoundNode): NumberedEntry => ({
  ...{ node, left: NO_STREAM, right: NO_STREAM, child: NO_STREAM, isRed: false },
});

/** Builds a red-black tree and returns its root. Entries below the last complete level of the tree are red. */
function link(entries: readonly NumberedEntry[], start: number, end: number, blackLevels: number): number {
  if (start >= end) return NO_STREAM;
  const middle = Math.floor((start + end) / 2);
  const entry = entries[middle];
  if (entry === undefined) return NO_STREAM;
  entry.isRed = blackLevels === 0;
  entry.left = link(entries, start, middle, blackLevels - 1);
  entry.right = link(entries, middle + 1, end, blackLevels - 1);
  return middle;
}

function entryOf(
  { node, left, right, child, isRed }: NumberedEntry,
  starts: ReadonlyMap<CompoundNode, number>,
  miniLength: number,
): Buffer {
  const entry = Buffer.from(node.entry);
  const isRoot = node.kind === 'storage' && starts.has(node);
  entry[67] = isRed ? 0 : 1;
  entry.writeUInt32LE(left, 68);
  entry.writeUInt32LE(right, 72);
  entry.writeUInt32LE(child, 76);
  const size = node.kind === 'stream' ? node.size : isRoot ? miniLength : 0;
  entry.writeUInt32LE(starts.get(node) ?? (node.kind === 'stream' ? END_OF_CHAIN : 0), 116);
  entry.writeUInt32LE(size % 2 ** 32, 120);
  entry.writeUInt32LE(Math.floor(size / 2 ** 32), 124);
  return entry;
}

function numberSmall(small: readonly CompoundStream[], starts: Map<CompoundNode, number>): readonly number[] {
  const fat: number[] = [];
  for (const stream of small) {
    starts.set(stream, fat.length);
    const end = fat.length + Math.ceil(stream.size / MINI_SECTOR_LENGTH);
    while (fat.length < end - 1) fat.push(fat.length + 1);
    fat.push(END_OF_CHAIN);
  }
  return fat;
}

function difatSector(
  index: number,
  length: number,
  fatSectors: readonly number[],
  difatSectors: readonly number[],
): Uint8Array {
  const perSector = length / 4 - 1;
  const first = HEADER_FAT_SECTORS + index * perSector;
  const listed = fatSectors.slice(first, first + perSector);
  const free = Array.from({ length: perSector - listed.length }, () => FREE);
  return wordsOf([...listed, ...free, difatSectors[index + 1] ?? END_OF_CHAIN]);
}

function wordsOf(words: readonly number[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(words.length * 4));
  for (const [index, word] of words.entries()) bytes.setUint32(index * 4, word, true);
  return new Uint8Array(bytes.buffer);
}

function padded(size: number, unit: number): number {
  return Math.ceil(size / unit) * unit;
}

function* withPadding(content: Iterable<Piece>, size: number, unit: number, filler = 0): Generator<Piece> {
  yield* content;
  const length = padded(size, unit) - size;
  if (length > 0) yield Buffer.alloc(length, filler);
}

function* aroundRangeLock(version: Version, pieces: () => Iterable<Piece>): Generator<Piece> {
  let before = version === 4 ? RANGE_LOCK_SECTOR * SECTOR_LENGTH[4] : Number.POSITIVE_INFINITY;
  for (const piece of pieces()) {
    const length = pieceLength(piece);
    if (length <= before) {
      yield piece;
      before -= length;
      continue;
    }
    if (before > 0) yield part(piece, 0, before);
    yield Buffer.alloc(SECTOR_LENGTH[4]);
    yield part(piece, before, length);
    before = Number.POSITIVE_INFINITY;
  }
}

/** Assigns sectors in order. Each chain is contiguous, except where it skips the range-lock sector. */
class Allocation {
  readonly #version: Version;
  readonly #length: number;
  /** The sectors of each chain, numbered as if there were no range-lock sector. */
  readonly #chains: (readonly [start: number, count: number])[] = [];
  #next = 0;

  constructor(version: Version) {
    this.#version = version;
    this.#length = SECTOR_LENGTH[version];
  }

  take(bytes: number): number {
    const count = Math.ceil(bytes / this.#length);
    if (count === 0) return END_OF_CHAIN;
    const start = this.#next;
    this.#chains.push([start, count]);
    this.#next += count;
    return this.#sector(start);
  }

  finish(): { fatSectors: number[]; difatSectors: number[] } {
    const perSector = this.#length / 4;
    let [fatCount, difatCount] = [0, 0];
    const total = () => this.#sector(this.#next + fatCount + difatCount - 1) + 1;
    while (total() > fatCount * perSector) {
      fatCount += 1;
      difatCount = Math.ceil(Math.max(0, fatCount - HEADER_FAT_SECTORS) / (perSector - 1));
    }
    const size = (total() + 1) * this.#length;
    if (size > SIZE_LIMIT[this.#version]) throw tooLarge(size, this.#version);
    const numbered = (start: number, count: number) =>
      Array.from({ length: count }, (_, index) => this.#sector(start + index));
    const fatSectors = numbered(this.#next, fatCount);
    const difatSectors = numbered(this.#next + fatCount, difatCount);
    return { fatSectors, difatSectors };
  }

  fat(fatSectors: readonly number[], difatSectors: readonly number[]): Uint8Array {
    const fat = new DataView(new ArrayBuffer(fatSectors.length * this.#length));
    const set = (sector: number, word: number) => fat.setUint32(sector * 4, word, true);
    for (let sector = 0; sector < fat.byteLength / 4; sector += 1) set(sector, FREE);
    const last = difatSectors.at(-1) ?? fatSectors.at(-1) ?? 0;
    if (this.#version === 4 && last > RANGE_LOCK_SECTOR) set(RANGE_LOCK_SECTOR, END_OF_CHAIN);
    for (const [start, count] of this.#chains) {
      const end = start + count;
      for (let index = start; index < end; index += 1) {
        set(this.#sector(index), index + 1 < end ? this.#sector(index + 1) : END_OF_CHAIN);
      }
    }
    for (const sector of fatSectors) set(sector, FAT_SECTOR);
    for (const sector of difatSectors) set(sector, DIFAT_SECTOR);
    return new Uint8Array(fat.buffer);
  }

  #sector(index: number): number {
    return this.#version === 4 && index >= RANGE_LOCK_SECTOR ? index + 1 : index;
  }
}
