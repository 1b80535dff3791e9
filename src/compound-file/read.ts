import type { ByteSource } from '../bytes/byte-source.ts';
import { bytesErrors } from '../bytes/errors.ts';
import { patchedSource } from '../bytes/patched-source.ts';
import { type ByteRange, joinRanges, lazyPieces, type Piece, readPieces } from '../bytes/pieces.ts';
import {
  type CompoundFile,
  type CompoundNode,
  type CompoundStorage,
  type CompoundStream,
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

/**
 * Reads the tree of storages and streams (MS-CFB, 2.1 to 2.6), but not the content of streams. Uses 5 bytes of memory
 * for each sector of the file.
 */
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
  const root = readTree(directory, version, sectors, mini);
  return { version, header, root, unused: sectors.unused() };
}

export async function readStream(source: ByteSource, { content }: CompoundStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readPieces(source, content)) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

export function streamSource(source: ByteSource, { content }: CompoundStream): ByteSource {
  return patchedSource(source, [{ offset: 0, remove: source.size, insert: content }]);
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

function readTree(directory: Buffer, version: Version, sectors: Sectors, mini: MiniStream): CompoundStorage {
  const isVisited = new Uint8Array(directory.length / ENTRY_LENGTH);

  function visit(id: number): Buffer {
    if (isVisited[id] === 1) throw malformed(`its directory refers to entry ${id} twice`);
    if (isVisited[id] !== 0) throw malformed(`its directory refers to entry ${id}, which it does not have`);
    isVisited[id] = 1;
    return directory.subarray(id * ENTRY_LENGTH, (id + 1) * ENTRY_LENGTH);
  }

  function readStorage(entry: Buffer, depth: number): CompoundStorage {
    if (depth > DEEPEST) throw malformed('its storages are nested too deeply');
    const children: CompoundNode[] = [];
    for (const child of inOrder(entry.readUInt32LE(76))) {
      const node = readNode(child, depth);
      const previous = children.at(-1);
      // Readers search the tree, so they miss an entry that is out of order, and find only one of two entries with
      // identical names.
      if (previous !== undefined && compareNames(previous.name, node.name) >= 0) {
        throw malformed('the names in a storage are not in order, or differ only in case');
      }
      children.push(node);
    }
    return { kind: 'storage', name: nameOf(entry), entry, children };
  }

  function* inOrder(root: number): Generator<Buffer> {
    const ancestors: Buffer[] = [];
    let id = root;
    while (id !== NO_STREAM || ancestors.length > 0) {
      while (id !== NO_STREAM) {
        const entry = visit(id);
        ancestors.push(entry);
        id = entry.readUInt32LE(68);
      }
      const next = ancestors.pop();
      if (next === undefined) return;
      yield next;
      id = next.readUInt32LE(72);
    }
  }

  function readNode(entry: Buffer, depth: number): CompoundNode {
    if (entry[66] === TYPE_STORAGE) return readStorage(entry, depth + 1);
    if (entry[66] !== TYPE_STREAM) throw malformed('an entry of its directory is neither a storage nor a stream');
    // In version 3, the upper half of the size field can have any value.
    const high = version === 3 ? 0 : entry.readUInt32LE(124);
    const size = high * 2 ** 32 + entry.readUInt32LE(120);
    const start = entry.readUInt32LE(116);
    if (size >= MINI_CUTOFF) sectors.claimContent(start, size, 'a stream');
    const content =
      size < MINI_CUTOFF ? smallContent(start, size, mini, sectors) : lazyPieces(() => sectors.ranges(start, size));
    return { kind: 'stream', name: nameOf(entry), entry, size, content };
  }

  const root = visit(0);
  if (root[66] !== TYPE_ROOT) throw malformed('the first entry of its directory is not the root');
  return readStorage(root, 0);
}

function smallContent(start: number, size: number, mini: MiniStream, sectors: Sectors): Iterable<Piece> {
  const chain = new Uint32Array(Math.ceil(size / MINI_SECTOR_LENGTH));
  let sector = start;
  for (const index of chain.keys()) {
    if (sector === END_OF_CHAIN || sector >= mini.count) throw malformed('the chain of a small stream is too short');
    if (mini.owned[sector] === 1)
      throw malformed(`a small stream refers to small sector ${sector}, which is already in use`);
    mini.owned[sector] = 1;
    chain[index] = sector;
    sector = mini.fat.readUInt32LE(sector * 4);
  }
  const perSector = sectors.length / MINI_SECTOR_LENGTH;
  const ranges = function* (): Generator<ByteRange> {
    for (const [index, each] of chain.entries()) {
      const outer = mini.sectors[Math.floor(each / perSector)] ?? 0;
      const start = sectors.offsetOf(outer) + (each % perSector) * MINI_SECTOR_LENGTH;
      yield { start, end: start + Math.min(MINI_SECTOR_LENGTH, size - index * MINI_SECTOR_LENGTH) };
    }
  };
  return lazyPieces(() => joinRanges(ranges()));
}

function nameOf(entry: Buffer): Uint8Array {
  const length = entry.readUInt16LE(64);
  if (length < 4 || length > 64 || length % 2 !== 0) throw malformed(`a name in its directory has ${length} bytes`);
  const name = entry.subarray(0, length - 2);
  // Readers disagree about where a name that contains a NUL ends.
  if (Buffer.from(name).toString('utf16le').includes('\0')) throw malformed('a name in its directory contains a NUL');
  return name;
}
