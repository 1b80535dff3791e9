import type { ByteSource } from '../bytes/byte-source.ts';
import { directoryRecords, indexByName, readDirectory, type ZipEntry } from './directory.ts';
import { type EndOfArchive, findEndOfArchive } from './end-record.ts';
import { zipErrors } from './errors.ts';
import { asBuffer } from './fields.ts';
import { locateEntries } from './local-headers.ts';

export interface ZipArchive {
  readonly end: EndOfArchive;
  readonly directory: Buffer;
  /** In directory order, which is the order in which programs list them. */
  readonly entries: readonly ZipEntry[];
  readonly inFile: readonly ZipEntry[];
  readonly byName: ReadonlyMap<string, ZipEntry>;
  /** Offset of the first record. Bytes before it are not part of the archive. */
  readonly start: number;
}

/** Enough for more than a million entries. */
const LARGEST_DIRECTORY = 128 * 1024 * 1024;

/**
 * Reads the directory into memory and checks every local header. Throws `zip-malformed`, `zip-ambiguous`,
 * `zip-unsupported`, `zip-name-refused`.
 */
export async function readArchive(source: ByteSource): Promise<ZipArchive> {
  const end = await findEndOfArchive(source);
  if (end.directorySize > LARGEST_DIRECTORY) {
    throw zipErrors('zip-unsupported', { problem: `its directory has ${end.directorySize} bytes` });
  }
  const directory = asBuffer(await source.read(end.directoryOffset, end.directorySize));
  const entries = readDirectory(directory, end);
  const byName = indexByName(entries);
  const inFile = await locateEntries(source, directory, entries, end);
  return { end, directory, entries, inFile, byName, start: inFile[0]?.offset ?? end.directoryOffset };
}

/**
 * Returns enough names from the directory to recognise the kind of archive: names in the root, names in the given
 * folders (in lower case, each ending with `/`), and one compiled class. Throws like `readArchive`, but reads only the
 * directory.
 */
export async function readKindNames(source: ByteSource, folders: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const end = await findEndOfArchive(source);
  const names = new Set<string>();
  if (end.directorySize > LARGEST_DIRECTORY) return names;
  const directory = asBuffer(await source.read(end.directoryOffset, end.directorySize));
  let isClassNamed = false;
  for (const { nameStart, nameEnd } of directoryRecords(directory, end)) {
    const slash = directory.subarray(nameStart, nameEnd).indexOf('/');
    const folder = directory.toString('latin1', nameStart, nameStart + slash + 1).toLowerCase();
    const isFirstClass: boolean = !isClassNamed && directory.toString('latin1', nameEnd - 6, nameEnd) === '.class';
    isClassNamed ||= isFirstClass;
    if (slash < 0 || isFirstClass || folders.has(folder)) names.add(directory.toString('utf8', nameStart, nameEnd));
  }
  return names;
}
