/** Reads the formats v7, ustar (POSIX.1-1988), pax (POSIX.1-2001) and GNU tar. */

import { type ByteSource, slidingWindow } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import { tarErrors } from './errors.ts';

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  readonly offset: number;
}

export const BLOCK = 512;
const LONGEST_EXTENSION = 1024 * 1024;

/** Values that a pax header can replace (POSIX.1-2017, pax, "pax Extended Header"). */
interface Extended {
  readonly path?: string;
  readonly size?: number;
}

/** Types of entries without contents: links, folders and devices. GNU tar extracts entries of unknown types as files. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['1', '2', '3', '4', '5', '6']);
/** GNU tar does not extract the contents of these entries: a list of the files in a folder, and a volume header. */
const NOT_EXTRACTED: ReadonlySet<string> = new Set(['D', 'V']);
/** Entry types of continued volumes, long names in an old form, and sparse files. */
const UNREADABLE_TYPES: ReadonlySet<string> = new Set(['M', 'N', 'S']);

/** Yields the files of an archive, without links, folders and devices. */
export async function* readTar(source: ByteSource): AsyncGenerator<TarEntry> {
  const readBlock = blockReader(source);
  let common: Extended = {};
  let next: Extended = {};
  for (let offset = 0; ; ) {
    const header = await readBlock(offset);
    if (isZero(header)) {
      const following = await nextHeader(source, offset);
      if (following === undefined) return;
      offset = following;
      continue;
    }
    const type = readType(header, offset);
    const dataOffset = offset + BLOCK;
    const { size: nextSize, path } = { ...common, ...next };
    const isExtension = 'xgXLK'.includes(type);
    const size = (isExtension ? undefined : nextSize) ?? readNumber(header, 124, 12, offset);
    const hasContent = !WITHOUT_CONTENT.has(type);
    const end = dataOffset + (hasContent ? Math.ceil(size / BLOCK) * BLOCK : 0);
    if (hasContent && dataOffset + size > source.size) {
      throw malformed(`the data of the entry at byte ${offset} is cut off`);
    }
    if (isExtension) {
      const data = await readExtension(source, dataOffset, size);
      if (type === 'g') common = { ...common, ...readPax(data, offset) };
      else if (type === 'x' || type === 'X') next = { ...next, ...readPax(data, offset) };
      else if (type === 'L') next = { ...next, path: untilZero(data) };
    } else {
      const name = path ?? readName(header);
      // In v7 archives, a name that ends with "/" is a folder.
      if (hasContent && !NOT_EXTRACTED.has(type) && !name.endsWith('/')) yield { name, size, offset: dataOffset };
      next = {};
    }
    offset = end;
  }
}

/** Returns true if the checksum of the header is correct. */
export function isTarHeader(header: Uint8Array): boolean {
  if (header.length < BLOCK || header[0] === 0) return false;
  const stored = Number.parseInt(latin1(header, 148, 8).trim(), 8);
  let sum = 8 * 0x20;
  for (let index = 0; index < BLOCK; index += 1) if (index < 148 || index >= 156) sum += header[index] ?? 0;
  return stored === sum;
}

function blockReader(source: ByteSource): (offset: number) => Promise<Uint8Array> {
  const { view, load } = slidingWindow(source, source.size);
  return async (offset) => {
    if (offset + BLOCK > source.size) {
      throw malformed(`it ends at byte ${source.size} without the blocks that mark its end`);
    }
    return view(offset, BLOCK) ?? (await load(offset, BLOCK));
  };
}

/** Returns the offset of a second archive after the end of the first. Throws for other data. */
async function nextHeader(source: ByteSource, from: number): Promise<number | undefined> {
  let offset = from;
  for await (const chunk of source.stream(from)) {
    const at = chunk.findIndex((byte) => byte !== 0);
    if (at >= 0) {
      const block = offset + at - ((offset + at) % BLOCK);
      if (block + BLOCK <= source.size && isTarHeader(await source.read(block, BLOCK))) return block;
      throw malformed(`after its end, data follows at byte ${offset + at}`);
    }
    offset += chunk.length;
  }
  return undefined;
}

function readType(header: Uint8Array, offset: number): string {
  if (!isTarHeader(header)) throw malformed(`the header at byte ${offset} has a wrong checksum`);
  const type = latin1(header, 156, 1);
  if (UNREADABLE_TYPES.has(type)) throw tarErrors('tar-unsupported', { problem: `an entry has the type "${type}"` });
  return type;
}

function readName(header: Uint8Array): string {
  const name = untilZero(header.subarray(0, 100));
  const isUstar = latin1(header, 257, 6) === 'ustar\0';
  const prefix = isUstar ? untilZero(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** In GNU tar, the first bit marks a binary number. Other numbers are octal. */
function readNumber(header: Uint8Array, start: number, length: number, offset: number): number {
  const field = Buffer.from(header.subarray(start, start + length));
  const isBinary = (field[0] ?? 0) >= 0x80;
  const digits = untilZero(field).trim();
  const value = isBinary ? Number(field.readBigUInt64BE(length - 8)) : Number.parseInt(digits || '0', 8);
  const isValid = isBinary
    ? field[0] === 0x80 && field.subarray(1, length - 8).every((byte) => byte === 0)
    : /^[0-7]*$/.test(digits);
  if (isValid && Number.isSafeInteger(value)) return value;
  throw malformed(`the header at byte ${offset} has a size that is not a number`);
}

async function readExtension(source: ByteSource, offset: number, size: number): Promise<Uint8Array> {
  if (size <= LONGEST_EXTENSION) return await source.read(offset, size);
  throw tarErrors('tar-unsupported', { problem: `an extended header has ${size} bytes` });
}

/** Records have the form `length key=value\n`. */
function readPax(data: Uint8Array, offset: number): Extended {
  const bytes = Buffer.from(data);
  const values = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('latin1', at, space));
    const record = bytes.subarray(space + 1, at + length);
    const equals = record.indexOf(0x3d);
    const isDamaged = !Number.isSafeInteger(length) || length <= space - at || at + length > bytes.length;
    if (isDamaged || equals < 1 || record.at(-1) !== 0x0a) {
      throw malformed(`the extended header at byte ${offset} has a damaged record`);
    }
    values.set(record.toString('utf8', 0, equals), record.toString('utf8', equals + 1, record.length - 1));
    at += length;
  }
  if ([...values.keys()].some((key) => key.startsWith('GNU.sparse.'))) {
    throw tarErrors('tar-unsupported', { problem: 'an entry is a sparse file' });
  }
  const [path, size] = [values.get('path'), values.get('size')];
  if (size !== undefined && !/^\d{1,15}$/.test(size)) {
    throw malformed(`the extended header at byte ${offset} has a size that is not a number`);
  }
  return { ...(path !== undefined && { path }), ...(size !== undefined && { size: Number(size) }) };
}

function untilZero(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString('utf8');
}

function latin1(bytes: Uint8Array, start: number, length: number): string {
  return Buffer.from(bytes.subarray(start, start + length)).toString('latin1');
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

const malformed = (problem: string) => bytesErrors('file-malformed', { what: 'the tar archive', problem });
