import { malformed } from './errors.ts';
import type { BlockDecoder } from './folder-reader.ts';
import { BitReader, type HuffmanCode, huffmanCode } from './huffman.ts';

const LEAST_WINDOW_BITS = 15;
const MOST_WINDOW_BITS = 21;
/** Number of position slots for each size of the window. Each slot stands for a range of match offsets. */
const POSITION_SLOTS = [30, 32, 34, 36, 38, 42, 50];
const EXTRA_BITS = Array.from({ length: 50 }, (_, slot) => (slot < 4 ? 0 : Math.min(17, (slot >> 1) - 1)));
const POSITION_BASES = EXTRA_BITS.map((_, slot) => EXTRA_BITS.slice(0, slot).reduce((sum, bits) => sum + 2 ** bits, 0));
const LITERALS = 256;
const LENGTHS = 249;
const LEAST_MATCH = 2;
const VERBATIM = 1;
const ALIGNED = 2;
const UNCOMPRESSED = 3;
/**
 * Real frames have far fewer blocks. A limit is necessary because each block can have Huffman codes, which take time to
 * read.
 */
const MOST_BLOCKS_IN_FRAME = 128;

interface State {
  readonly window: Buffer;
  readonly mainLengths: Uint8Array;
  readonly lengthLengths: Uint8Array;
  total: number;
  recent: [number, number, number];
  /** File size with which the addresses in call instructions are restored. undefined until the first block is read. */
  callsSize: number | undefined;
  type: number;
  length: number;
  /** Number of bytes in the current LZX block that have not been unpacked yet. */
  left: number;
  /** True if the next data begins with the padding byte of an uncompressed block. */
  isPadded: boolean;
  main: HuffmanCode;
  lengths: HuffmanCode;
  aligned: HuffmanCode;
}

/** Unpacks LZX data in cabinets (MS-PATCH, without the extensions of LZX DELTA). */
export function lzx(windowBits: number): BlockDecoder {
  const slots = POSITION_SLOTS[windowBits - LEAST_WINDOW_BITS];
  if (slots === undefined || windowBits > MOST_WINDOW_BITS)
    throw malformed(`a window of ${windowBits} bits is too large`);
  const none = huffmanCode(new Uint8Array());
  return decoderWith({
    window: Buffer.alloc(2 ** windowBits),
    mainLengths: new Uint8Array(LITERALS + slots * 8),
    lengthLengths: new Uint8Array(LENGTHS),
    ...{ total: 0, recent: [1, 1, 1], callsSize: undefined, type: 0, length: 0, left: 0, isPadded: false },
    ...{ main: none, lengths: none, aligned: none },
  });
}

function decoderWith(state: State): BlockDecoder {
  return {
    decode: (data, size) => decodeFrame(state, data, size),
    copy: () =>
      decoderWith({
        ...state,
        window: Buffer.from(state.window),
        mainLengths: Uint8Array.from(state.mainLengths),
        lengthLengths: Uint8Array.from(state.lengthLengths),
      }),
  };
}

/** A block of a cabinet contains one frame of up to 32 KiB. An LZX block can extend over several frames. */
function decodeFrame(state: State, data: Buffer, size: number): Buffer {
  const { window, total } = state;
  let position = state.isPadded ? 1 : 0;
  state.isPadded = false;
  let bits = new BitReader(data, position);
  if (state.callsSize === undefined) state.callsSize = bits.read(1) === 0 ? 0 : bits.read(16) * 65_536 + bits.read(16);
  for (let blocks = 0; state.total < total + size; ) {
    if (state.left === 0) {
      blocks += 1;
      if (blocks > MOST_BLOCKS_IN_FRAME) throw malformed('its LZX data has too many blocks');
      position = readBlockHeader(state, bits, data);
      if (position > 0) bits = new BitReader(data, position);
    }
    const count = Math.min(state.left, total + size - state.total);
    if (state.type !== UNCOMPRESSED) {
      unpackMatches(state, bits, count, total + size);
      continue;
    }
    if (position + count > data.length) throw malformed('an uncompressed block is cut off');
    for (let index = 0; index < count; index += 1) {
      window[(state.total + index) % window.length] = data[position + index] ?? 0;
    }
    state.total += count;
    state.left -= count;
    position += count;
    if (state.left > 0 || state.length % 2 === 0) bits = new BitReader(data, position);
    else {
      state.isPadded = position === data.length;
      bits = new BitReader(data, position + 1);
    }
  }
  const frame = Buffer.alloc(size);
  const start = total % window.length;
  frame.set(window.subarray(start, start + size));
  frame.set(window.subarray(0, Math.max(0, start + size - window.length)), Math.min(size, window.length - start));
  undoCallTranslation(frame, total, state.callsSize);
  return frame;
}

/** Returns the offset of the content of an uncompressed block, or 0 for a block of another type. */
function readBlockHeader(state: State, bits: BitReader, data: Buffer): number {
  state.type = bits.read(3);
  state.length = bits.read(16) * 256 + bits.read(8);
  state.left = state.length;
  if (state.type === UNCOMPRESSED) {
    const at = bits.align();
    if (at + 12 > data.length) throw malformed('an uncompressed block is cut off');
    state.recent = [data.readUInt32LE(at), data.readUInt32LE(at + 4), data.readUInt32LE(at + 8)];
    return at + 12;
  }
  if (state.type !== VERBATIM && state.type !== ALIGNED) throw malformed('its LZX data has a block of an unknown type');
  if (state.type === ALIGNED) state.aligned = huffmanCode(Uint8Array.from({ length: 8 }, () => bits.read(3)));
  readLengths(bits, state.mainLengths.subarray(0, LITERALS));
  readLengths(bits, state.mainLengths.subarray(LITERALS));
  state.main = huffmanCode(state.mainLengths);
  readLengths(bits, state.lengthLengths);
  state.lengths = huffmanCode(state.lengthLengths);
  return 0;
}

/** Lengths are stored as differences from the lengths in the last block, modulo 17. */
function readLengths(bits: BitReader, lengths: Uint8Array): void {
  const code = huffmanCode(Uint8Array.from({ length: 20 }, () => bits.read(4)));
  for (let at = 0; at < lengths.length; ) {
    const symbol = bits.symbol(code);
    if (symbol < 17) {
      lengths[at] = ((lengths[at] ?? 0) - symbol + 17) % 17;
      at += 1;
      continue;
    }
    const count = symbol === 17 ? bits.read(4) + 4 : symbol === 18 ? bits.read(5) + 20 : bits.read(1) + 4;
    const difference = symbol === 19 ? bits.symbol(code) : 0;
    if (at + count > lengths.length || difference > 16) throw malformed('the lengths of a Huffman code are damaged');
    lengths.fill(symbol === 19 ? ((lengths[at] ?? 0) - difference + 17) % 17 : 0, at, at + count);
    at += count;
  }
}

function unpackMatches(state: State, bits: BitReader, count: number, end: number): void {
  const { window, main, lengths } = state;
  const mask = window.length - 1;
  let at = state.total;
  const stop = at + count;
  while (at < stop) {
    const symbol = bits.symbol(main);
    if (symbol < LITERALS) {
      window[at & mask] = symbol;
      at += 1;
      continue;
    }
    const match = symbol - LITERALS;
    const length = (match & 7) + LEAST_MATCH + ((match & 7) === 7 ? bits.symbol(lengths) : 0);
    const offset = readOffset(state, bits, match >> 3);
    if (offset === 0 || offset > Math.min(at, window.length))
      throw malformed('a match refers to data before the start');
    if (at + length > end || at + length - state.total > state.left) throw malformed('a match is too long');
    for (let index = 0; index < length; index += 1)
      window[(at + index) & mask] = window[(at + index - offset) & mask] ?? 0;
    at += length;
  }
  state.left -= at - state.total;
  state.total = at;
}

function readOffset(state: State, bits: BitReader, slot: number): number {
  const [first, second, third] = state.recent;
  if (slot === 0) return first;
  if (slot === 1) state.recent = [second, first, third];
  else if (slot === 2) state.recent = [third, second, first];
  else {
    const extra = EXTRA_BITS[slot] ?? 0;
    const isAligned = state.type === ALIGNED && extra >= 3;
    const low = isAligned ? bits.read(extra - 3) * 8 + bits.symbol(state.aligned) : bits.read(extra);
    state.recent = [(POSITION_BASES[slot] ?? 0) - 2 + low, first, second];
  }
  return state.recent[0];
}

const TRANSLATED = 32_768 * 32_768;
const CALL = 0xe8;
const END = 10;

/** Compressors replace the relative address after each byte 0xE8 (a call on x86) by an absolute one. */
function undoCallTranslation(frame: Buffer, position: number, programSize: number): void {
  if (programSize === 0 || position >= TRANSLATED || frame.length <= END) return;
  const size = programSize | 0;
  for (let at = frame.indexOf(CALL); at >= 0 && at < frame.length - END; at = frame.indexOf(CALL, at + 5)) {
    const absolute = frame.readInt32LE(at + 1);
    const current = position + at;
    if (absolute >= -current && absolute < size) {
      frame.writeInt32LE((absolute >= 0 ? absolute - current : absolute + size) | 0, at + 1);
    }
  }
}
