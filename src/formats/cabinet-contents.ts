import { type ByteSource, memorySource } from '../bytes/byte-source.ts';
import { forwardSource } from '../bytes/forward-source.ts';
import { lazy } from '../bytes/reuse.ts';
import { decoderFor, methodName } from '../cabinet/decoders.ts';
import { type Cabinet, type CabinetFile, readCabinet } from '../cabinet/directory.ts';
import { cabinetErrors, malformed } from '../cabinet/errors.ts';
import { type FolderPart, FolderReader, LONGEST_BLOCK } from '../cabinet/folder-reader.ts';
import { checkInflated, LARGEST_BUFFERED } from '../format/contents.ts';
import { formatErrors } from '../format/errors.ts';
import type { ContainedFile, FindNeighbour } from '../format/signable-file.ts';

const MOST_CABINETS = 200;

/** Yields the files in the order of their data, except files that begin in the previous cabinet of the set. */
export async function* cabinetFiles(
  source: ByteSource,
  neighbour: FindNeighbour = async () => undefined,
): AsyncGenerator<ContainedFile> {
  const cabinet = await readCabinet(source);
  const openFile = fileOpener(cabinet, neighbour);
  let last: { readonly file: CabinetFile; readonly open: ContainedFile['open'] } | undefined;
  for (const file of cabinet.files.toSorted((a, b) => a.folder - b.folder || a.offset - b.offset)) {
    const { name, size, folder, offset } = file;
    if (file.isFromPrevious) {
      const previous = await neighbourOf(cabinet, cabinet.previous, -1, neighbour);
      if (previous.files.some((each) => each.isToNext && each.name === name && each.size === size)) continue;
      throw malformed(`${name} does not begin in the previous cabinet`);
    }
    // WiX stores files with identical contents only once.
    const isSame = last?.file.folder === folder && last.file.offset === offset && last.file.size === size;
    const open = isSame && last !== undefined ? last.open : lazy(() => openFile(file));
    last = { file, open };
    yield { name, size, open };
  }
}

/** Counts the unpacked blocks instead of the files, because files and folders can contain the same data. */
function fileOpener(cabinet: Cabinet, neighbour: FindNeighbour) {
  let current: { readonly folder: number; readonly reader: FolderReader } | undefined;
  let failure: { readonly folder: number; readonly thrown: unknown } | undefined;
  let blocks = 0;

  async function openReader(folder: number): Promise<FolderReader> {
    const { compression = 0 } = cabinet.folders[folder] ?? {};
    const decoder = decoderFor(compression);
    if (decoder === undefined) {
      throw formatErrors('container-unsupported', { kind: `a cabinet compressed with ${methodName(compression)}` });
    }
    const parts = await partsOf(cabinet, folder, neighbour);
    const packed = parts.reduce((sum, { source }) => sum + source.size, 0);
    return new FolderReader(parts, decoder, () => {
      blocks += 1;
      checkInflated(blocks * LONGEST_BLOCK, packed);
    });
  }

  return async ({ folder, offset, size }: CabinetFile): Promise<ByteSource> => {
    if (size === 0) return memorySource(Buffer.alloc(0));
    // No file after a damaged one can be unpacked.
    if (failure?.folder === folder) throw failure.thrown;
    try {
      const isAhead = current?.folder === folder && current.reader.start <= offset;
      if (!isAhead || current === undefined) current = { folder, reader: await openReader(folder) };
      return await unpack(current.reader, offset, size);
    } catch (thrown) {
      failure = { folder, thrown };
      throw thrown;
    }
  };
}

/** Checks all data of the file before returning it. */
async function unpack(reader: FolderReader, offset: number, size: number): Promise<ByteSource> {
  if (size <= LARGEST_BUFFERED) {
    const chunks: Buffer[] = [];
    for await (const chunk of reader.read(offset, size)) chunks.push(chunk);
    return memorySource(Buffer.concat(chunks));
  }
  await reader.skipTo(offset);
  const start = reader.copy();
  for await (const _ of reader.read(offset, size));
  return forwardSource(size, () => start.copy().read(offset, size));
}

async function partsOf(cabinet: Cabinet, folder: number, neighbour: FindNeighbour): Promise<readonly FolderPart[]> {
  const parts: FolderPart[] = [];
  let [current, index]: [Cabinet, number] = [cabinet, folder];
  for (;;) {
    const { dataOffset = 0, blockCount = 0 } = current.folders[index] ?? {};
    parts.push({ source: current.source, dataOffset, blockCount, blockReserve: current.blockReserve });
    const isLast = index === current.folders.length - 1;
    if (!isLast || !current.files.some(({ isToNext }) => isToNext)) return parts;
    if (parts.length === MOST_CABINETS) throw malformed(`it continues in more than ${MOST_CABINETS} cabinets`);
    current = await neighbourOf(current, current.next, 1, neighbour);
    index = 0;
  }
}

async function neighbourOf(
  { setId, number }: Cabinet,
  name: string | undefined,
  distance: number,
  neighbour: FindNeighbour,
): Promise<Cabinet> {
  const source = name === undefined ? undefined : await neighbour(name);
  if (name === undefined || source === undefined) {
    throw cabinetErrors('cabinet-missing', { name: name ?? 'without a name' });
  }
  const found = await readCabinet(source);
  if (found.setId === setId && found.number === number + distance) return found;
  throw malformed(`${name} is not the next or the previous cabinet of its set`);
}
