import { type ByteSource, slidingWindow } from '../../bytes/byte-source.ts';
import type { CabinetLayout } from './layout.ts';

const BLOCK_HEADER = 8;

/**
 * Returns true if the data blocks of a folder end where the next folder starts. No digest covers the sizes of the
 * reserved areas of folders and data blocks (cbCFFolder, cbCFData). With other sizes, programs unpack other bytes.
 */
export async function areReserveSizesRight(
  source: ByteSource,
  { names, folderCount, folderLength, reserve, cabinetSize }: CabinetLayout,
): Promise<boolean> {
  const table = Buffer.from(await source.read(names.end, folderCount * folderLength));
  const folders = Array.from({ length: folderCount }, (_, index) => ({
    start: table.readUInt32LE(index * folderLength),
    blocks: table.readUInt16LE(index * folderLength + 4),
  })).filter(({ blocks }) => blocks > 0);
  // A wrong size moves the end of every folder, so the folder with the fewest blocks is enough.
  const [folder] = folders.toSorted((a, b) => a.blocks - b.blocks);
  if (folder === undefined) return true;
  const window = slidingWindow(source, cabinetSize);
  let end = folder.start;
  for (let block = 0; block < folder.blocks; block += 1) {
    if (end + BLOCK_HEADER > cabinetSize) return false;
    const header = window.view(end, BLOCK_HEADER) ?? (await window.load(end, BLOCK_HEADER));
    end += BLOCK_HEADER + (reserve?.dataLength ?? 0) + header.readUInt16LE(4);
  }
  const starts = folders.map(({ start }) => start).filter((start) => start > folder.start);
  return end === starts.reduce((first, start) => Math.min(first, start), cabinetSize);
}
