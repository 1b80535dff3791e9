import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import type { ByteSource } from '../bytes/byte-source.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { plural } from '../errors/plural.ts';
import type { ZipEntry } from './directory.ts';
import { zipErrors } from './errors.ts';
import { DEFLATED } from './fields.ts';

export type PackedEntry = Pick<ZipEntry, 'name' | 'method' | 'compressedSize' | 'size' | 'crc32'>;

export type LocatedEntry = PackedEntry & Pick<ZipEntry, 'dataOffset'>;

const LEAST_CHUNK = 64;

export function unpack(data: Buffer, entry: PackedEntry): Buffer {
  const contents = entry.method === DEFLATED ? inflate(data, entry) : data;
  if (contents.length !== entry.size)
    throw damaged(entry, `it has ${plural(contents.length, 'byte')} instead of ${entry.size}`);
  if (crc32(contents) !== entry.crc32) throw damaged(entry, 'its CRC-32 is wrong');
  return contents;
}

/** One extra byte in the buffer lets zlib find the end of the data without a second buffer. */
function inflate(data: Buffer, entry: PackedEntry): Buffer {
  try {
    const { buffer, engine } = inflateRawSync(data, {
      chunkSize: Math.max(LEAST_CHUNK, entry.size + 1),
      maxOutputLength: entry.size + 1,
      info: true,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    if (engine.bytesWritten !== data.length) throw damaged(entry, 'bytes follow its compressed data');
    return buffer;
  } catch (thrown) {
    throw fromZlib(thrown, entry);
  }
}

/** The bytes of a piece are valid only during the call of `take`. */
export async function unpackInPieces(
  source: ByteSource,
  entry: LocatedEntry,
  take: (piece: Buffer) => void,
): Promise<void> {
  let size = 0;
  let checksum = 0;
  const pieces = source.stream(entry.dataOffset, entry.dataOffset + entry.compressedSize);
  const takeChecked = (piece: Buffer): void => {
    size += piece.length;
    if (size > entry.size) throw damaged(entry, `it has more than the ${plural(entry.size, 'byte')} it should have`);
    checksum = crc32(piece, checksum);
    take(piece);
  };
  if (entry.method === DEFLATED) await inflateInPieces(pieces, entry, takeChecked);
  else for await (const piece of pieces) takeChecked(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  if (size !== entry.size) throw damaged(entry, `it has ${plural(size, 'byte')} instead of ${entry.size}`);
  if (checksum !== entry.crc32) throw damaged(entry, 'its CRC-32 is wrong');
}

/** Passes one piece at a time to zlib, because the source reuses the memory of a piece. */
async function inflateInPieces(
  pieces: AsyncIterable<Uint8Array>,
  entry: LocatedEntry,
  take: (piece: Buffer) => void,
): Promise<void> {
  const inflating = createInflateRaw({ chunkSize: 256 * 1024 });
  let failure: unknown;
  const ended = new Promise<void>((resolve) => {
    inflating.once('end', resolve);
    inflating.once('error', (thrown) => {
      failure ??= fromZlib(thrown, entry);
      resolve();
    });
  });
  inflating.on('data', (piece: Buffer) => {
    if (failure !== undefined) return;
    try {
      take(piece);
    } catch (thrown) {
      failure = thrown;
    }
  });
  try {
    for await (const piece of pieces) {
      // zlib ignores bytes after the compressed data, and does not call back for them.
      await Promise.race([new Promise<void>((resolve) => inflating.write(piece, () => resolve())), ended]);
      if (failure !== undefined) throw failure;
    }
    inflating.end();
    await ended;
    if (failure !== undefined) throw failure;
    if (inflating.bytesWritten !== entry.compressedSize) throw damaged(entry, 'bytes follow its compressed data');
  } finally {
    inflating.destroy();
  }
}

function fromZlib(thrown: unknown, entry: PackedEntry): unknown {
  if (thrown instanceof CodesignError || !(thrown instanceof Error)) return thrown;
  const tooLong = (thrown as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
  const problem = tooLong ? `it has more than the ${plural(entry.size, 'byte')} it should have` : thrown.message;
  return zipErrors('zip-entry-damaged', { name: entry.name, problem }, { cause: thrown });
}

function damaged({ name }: PackedEntry, problem: string): CodesignError {
  return zipErrors('zip-entry-damaged', { name, problem });
}
