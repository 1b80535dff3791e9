/**
 * Reads the structure of a compound file (MS-CFB, 2.1 to 2.6). Streams are located, but their contents are not read.
 */

import type { ByteSource } from '../bytes/byte-source.ts';
import { bytesErrors } from '../bytes/errors.ts';
import { lazyPieces, type Piece } from '../bytes/pieces.ts';
import {
  type CompoundFile,
  type CompoundNode,
  type CompoundStorage,
  compareNames,
  END_OF_CHAIN,
  ENTRY_LENGTH,
  HEADER_LENGTH,
  MINI_CUTOFF,
  MINI_SECTOR_LENGTH,
  NO_STREAM,
  SIGNATURE,
  TYPE_ROOT,
  TYPE_STORAGE,
  TYPE_STREAM,
  type Version,
} from './format.ts';
import { malformed, Sectors } from './sectors.ts';

const DEEPEST = 32;
const MOST_ENTRIES = 131_072;

/** Needs 5 bytes of memory for each sector of the file. */
export async function readCompoundFile(source: ByteSource): Promise<CompoundFile> {
  if (source.size < HEADER_LENGTH) {
    throw bytesErrors('file-truncated', { size: source.size, what: 'its header', end: HEADER_LENGTH });
  }
  const header = Buffer.from(await source.read(0, HEADER_LENGTH));
  const version = versionOf(header);
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  const sectors = new Sectors(source, version);
  await sectors.readFat(view);
  const most = (MOST_ENTRIES + 1) * ENTRY_LENGTH;
  const directory = await sectors.readChain(view.getUint32(48, true), undefined, 'the directory', most);
  if (directory.length >= most) throw malformed(`its directory has more than ${MOST_ENTRIES} entries`);
  const mini = await readMiniStream(sectors, view, directory);
  const root = new Tree(directory, version, sectors, mini).read();
  return { version, header, root, unused: sectors.unused() };
}

function versionOf(header: Buffer): Version {
  const [version, order, shift, miniShift] = [26, 28, 30, 32].map((offset) => header.readUInt16LE(offset));
  const isSound = header.subarray(0, 8).equals(SIGNATURE) && order === 0xfffe && miniShift === 6;
  if (isSound && header.readUInt32LE(56) === MINI_CUTOFF) {
    if (version === 3 && shift === 9) return 3;
    if (version === 4 && shift === 12) return 4;
  }
  throw malformed('its header is not that of version 3 or 4');
}

/** The stream that contains all streams of less than 4096 bytes, in sectors of 64 bytes. */
interface MiniStream {
  readonly sectors: readonly number[];
  readonly fat: Buffer;
  readonly count: number;
  readonly owned: Uint8Array;
}

async function readMiniStream(sectors: Sectors, header: DataView, directory: Buffer): Promise<MiniStream> {
  if (directory.length < ENTRY_LENGTH) throw malformed('it has no directory');
  const size = directory.readUInt32LE(120);
  const start = directory.readUInt32LE(116);
  if (size > MOST_ENTRIES * MINI_CUTOFF) throw malformed(`its small streams have ${size} bytes`);
  const chain = [...sectors.follow(start, sectors.claimContent(start, size, 'the mini stream'))];
  const most = Math.ceil(size / MINI_SECTOR_LENGTH) * 4;
  const fat = await sectors.readChain(header.getUint32(60, true), header.getUint32(64, true), 'the mini FAT', most);
  const count = Math.min(Math.floor(size / MINI_SECTOR_LENGTH), fat.length / 4);
  return { sectors: chain, fat, count, owned: new Uint8Array(count) };
}

class Tree {
  readonly #directory: Buffer;
  readonly #version: Version;
  readonly #sectors: Sectors;
  readonly #mini: MiniStream;
  readonly #seen: Uint8Array;

  constructor(directory: Buffer, version: Version, sectors: Sectors, mini: MiniStream) {
    this.#directory = directory;
    this.#version = version;
    this.#sectors = sectors;
    this.#mini = mini;
    this.#seen = new Uint8Array(directory.length / ENTRY_LENGTH);
  }

  read(): CompoundStorage {
    const root = this.#visit(0);
    if (root[66] !== TYPE_ROOT) throw malformed('the first entry of its directory is not the root');
    return this.#storage(root, 0);
  }

  #storage(entry: Buffer, depth: number): CompoundStorage {
    if (depth > DEEPEST) throw malformed('its storages are nested too deeply');
    const children: CompoundNode[] = [];
    for (const child of this.#inOrder(entry.readUInt32LE(76))) {
      const node = this.#node(child, depth);
      const previous = children.at(-1);
      // Readers search the tree. They would miss an entry that is out of order, and find only one of two entries with
      // identical names.
      if (previous !== undefined && compareNames(previous.name, node.name) >= 0) {
        throw malformed('the names in a storage are not in order, or differ only in case');
      }
      children.push(node);
    }
    return { kind: 'storage', name: nameOf(entry), entry, children };
  }

  *#inOrder(root: number): Generator<Buffer> {
    const ancestors: Buffer[] = [];
    let id = root;
    while (id !== NO_STREAM || ancestors.length > 0) {
      while (id !== NO_STREAM) {
        const entry = this.#visit(id);
        ancestors.push(entry);
        id = entry.readUInt32LE(68);
      }
      const next = ancestors.pop();
      if (next === undefined) return;
      yield next;
      id = next.readUInt32LE(72);
    }
  }

  #node(entry: Buffer, depth: number): CompoundNode {
    if (entry[66] === TYPE_STORAGE) return this.#storage(entry, depth + 1);
    if (entry[66] !== TYPE_STREAM) throw malformed('an entry of its directory is neither a storage nor a stream');
    // In version 3, the upper half of the size field can have any value.
    const high = this.#version === 3 ? 0 : entry.readUInt32LE(124);
    const size = high * 2 ** 32 + entry.readUInt32LE(120);
    const start = entry.readUInt32LE(116);
    const content = size < MINI_CUTOFF ? this.#miniContent(start, size) : this.#content(start, size);
    return { kind: 'stream', name: nameOf(entry), entry, size, content };
  }

  #content(start: number, size: number): Iterable<Piece> {
    this.#sectors.claimContent(start, size, 'a stream');
    return lazyPieces(() => this.#sectors.ranges(start, size));
  }

  #miniContent(start: number, size: number): Iterable<Piece> {
    const { sectors, fat, count, owned } = this.#mini;
    const chain = new Uint32Array(Math.ceil(size / MINI_SECTOR_LENGTH));
    let mini = start;
    for (const index of chain.keys()) {
      if (mini === END_OF_CHAIN || mini >= count) throw malformed('the chain of a small stream is too short');
      if (owned[mini] === 1) throw malformed(`a small stream refers to small sector ${mini}, which is already in use`);
      owned[mini] = 1;
      chain[index] = mini;
      mini = fat.readUInt32LE(mini * 4);
    }
    const { length } = this.#sectors;
    const perSector = length / MINI_SECTOR_LENGTH;
    return smallPieces(chain, size, (each) => {
      const sector = sectors[Math.floor(each / perSector)] ?? 0;
      return (sector + 1) * length + (each % perSector) * MINI_SECTOR_LENGTH;
    });
  }

  #visit(id: number): Buffer {
    if (this.#seen[id] === 1) throw malformed(`its directory refers to entry ${id} twice`);
    if (this.#seen[id] !== 0) throw malformed(`its directory refers to entry ${id}, which it does not have`);
    this.#seen[id] = 1;
    return this.#directory.subarray(id * ENTRY_LENGTH, (id + 1) * ENTRY_LENGTH);
  }
}

function nameOf(entry: Buffer): Uint8Array {
  const length = entry.readUInt16LE(64);
  if (length < 4 || length > 64 || length % 2 !== 0) throw malformed(`a name in its directory has ${length} bytes`);
  const name = entry.subarray(0, length - 2);
  // Readers disagree about where a name that contains a NUL ends.
  if (Buffer.from(name).toString('utf16le').includes('\0')) throw malformed('a name in its directory contains a NUL');
  return name;
}

/** Yields the first `size` bytes that are stored in the small sectors. Adjacent sectors are combined into one range. */
function smallPieces(chain: Iterable<number>, size: number, offsetOf: (sector: number) => number): Iterable<Piece> {
  return lazyPieces(function* () {
    let [start, end, rest] = [0, 0, size];
    for (const sector of chain) {
      const offset = offsetOf(sector);
      if (offset !== end) {
        if (end > start) yield { start, end };
        start = offset;
      }
      end = offset + Math.min(MINI_SECTOR_LENGTH, rest);
      rest -= Math.min(MINI_SECTOR_LENGTH, rest);
    }
    if (end > start) yield { start, end };
  });
}
