import { type ByteSource, slidingWindow } from '../bytes/byte-source.ts';
import { malformed } from './errors.ts';

export interface FolderPart {
  readonly source: ByteSource;
  readonly dataOffset: number;
  readonly blockCount: number;
  readonly blockReserve: number;
}

export interface BlockDecoder {
  /** Returns `size` unpacked bytes, which later calls do not change. Throws `file-malformed`. */
  decode(data: Buffer, size: number): Buffer;
  copy(): BlockDecoder;
}

const HEADER_LENGTH = 8;
/** A block that cannot be compressed is up to 6144 bytes longer than its contents. */
const LONGEST_PACKED = 32_768 + 6144;
export const LONGEST_BLOCK = 32_768;

interface Position {
  readonly part: number;
  readonly blocks: number;
  readonly offset: number;
  /** The last unpacked block, and its offset in the unpacked data. */
  readonly block: Buffer;
  readonly start: number;
}

/** Unpacks the blocks of a folder one after the other (MS-CAB, 2.4 CFDATA). Calls `onBlock` before each block. */
export class FolderReader {
  readonly #parts: readonly FolderPart[];
  readonly #decoder: BlockDecoder;
  readonly #onBlock: () => void;
  #position: Position;
  #window: ReturnType<typeof slidingWindow> | undefined;

  constructor(parts: readonly FolderPart[], decoder: BlockDecoder, onBlock: () => void, position?: Position) {
    this.#parts = parts;
    this.#decoder = decoder;
    this.#onBlock = onBlock;
    const offset = parts[0]?.dataOffset ?? 0;
    this.#position = position ?? { part: 0, blocks: 0, offset, block: Buffer.alloc(0), start: 0 };
  }

  get start(): number {
    return this.#position.start;
  }

  copy(): FolderReader {
    return new FolderReader(this.#parts, this.#decoder.copy(), () => undefined, this.#position);
  }

  async skipTo(offset: number): Promise<void> {
    while (offset > this.#position.start + this.#position.block.length) await this.#next();
  }

  /** Yields `size` bytes from `offset`. Later calls do not change the chunks. */
  async *read(offset: number, size: number): AsyncGenerator<Buffer> {
    await this.skipTo(offset);
    for (let at = offset; at < offset + size; ) {
      const { block, start } = this.#position;
      const chunk = block.subarray(at - start, offset + size - start);
      if (chunk.length > 0) yield chunk;
      at += chunk.length;
      if (at < offset + size) await this.#next();
    }
  }

  async #next(): Promise<void> {
    this.#onBlock();
    const { start, block } = this.#position;
    const packed: Buffer[] = [];
    let size = 0;
    // A block that continues in the next cabinet has the size 0 in the current cabinet.
    do {
      const piece = await this.#nextPiece();
      packed.push(piece.data);
      size = piece.size;
      if (size === 0 && !this.#isAtEndOfPart()) throw malformed('a block in the middle of a folder has no size');
      if (packed.reduce((sum, { length }) => sum + length, 0) > LONGEST_PACKED) throw malformed('a block is too long');
    } while (size === 0);
    const unpacked = this.#decoder.decode(Buffer.concat(packed), size);
    this.#position = { ...this.#position, block: unpacked, start: start + block.length };
  }

  #isAtEndOfPart(): boolean {
    const { part, blocks } = this.#position;
    return blocks === this.#parts[part]?.blockCount;
  }

  async #nextPiece(): Promise<{ readonly data: Buffer; readonly size: number }> {
    const { part, blocks } = this.#position;
    const folder = this.#parts[part];
    if (folder === undefined) throw malformed('the data of a folder ends before the end of a file in it');
    if (blocks === folder.blockCount) {
      const offset = this.#parts[part + 1]?.dataOffset ?? 0;
      this.#position = { ...this.#position, part: part + 1, blocks: 0, offset };
      this.#window = undefined;
      return await this.#nextPiece();
    }
    const { source, blockReserve } = folder;
    const { offset } = this.#position;
    const head = await this.#bytes(source, offset, HEADER_LENGTH);
    const [sum, length, size] = [head.readUInt32LE(0), head.readUInt16LE(4), head.readUInt16LE(6)];
    if (length > LONGEST_PACKED || size > LONGEST_BLOCK) throw malformed(`the block at byte ${offset} is too long`);
    // Contrary to MS-CAB, the checksum does not cover the reserved area.
    const sizes = head.readUInt32LE(4);
    const dataOffset = offset + HEADER_LENGTH + blockReserve;
    const data = Buffer.from(await this.#bytes(source, dataOffset, length));
    if (sum !== 0 && (checksum(data) ^ sizes) >>> 0 !== sum) {
      throw malformed(`the block at byte ${offset} has a wrong checksum`);
    }
    this.#position = { ...this.#position, blocks: blocks + 1, offset: dataOffset + length };
    return { data, size };
  }

  async #bytes(source: ByteSource, offset: number, length: number): Promise<Buffer> {
    if (offset + length > source.size) throw malformed(`the block at byte ${offset} is cut off`);
    this.#window ??= slidingWindow(source, source.size);
    return this.#window.view(offset, length) ?? (await this.#window.load(offset, length));
  }
}

/** Combines all 32-bit words with XOR, and reverses the one to three bytes after the last word (MS-CAB, 3.1). */
function checksum(data: Buffer): number {
  const whole = data.length - (data.length % 4);
  let sum = 0;
  for (let at = 0; at < whole; at += 4) sum ^= data.readInt32LE(at);
  for (const [index, byte] of data.subarray(whole).entries()) sum ^= byte << (8 * (data.length - whole - 1 - index));
  return sum;
}
