import { inflateRawSync } from 'node:zlib';
import { malformed } from './errors.ts';
import type { BlockDecoder } from './folder-reader.ts';
import { lzx } from './lzx.ts';

const WINDOW = 32 * 1024;

export function decoderFor(compression: number): BlockDecoder | undefined {
  const method = compression & 0xf;
  if (method === 0) return STORED;
  if (method === 1) return mszip(Buffer.alloc(0));
  return method === 3 ? lzx((compression >> 8) & 0x1f) : undefined;
}

export function methodName(compression: number): string {
  return ['nothing', 'MSZIP', 'Quantum', 'LZX'][compression & 0xf] ?? 'an unknown method';
}

const STORED: BlockDecoder = {
  decode(data, size) {
    if (data.length !== size) throw malformed(`a stored block has ${data.length} bytes, and should have ${size}`);
    return data;
  },
  copy: () => STORED,
};

/** Each block consists of the letters CK and deflate data, whose dictionary is the 32 KiB before the block (MS-MCI). */
function mszip(before: Buffer): BlockDecoder {
  let dictionary = before;
  return {
    decode(data, size) {
      if (data[0] !== 0x43 || data[1] !== 0x4b) throw malformed('a block does not begin with CK');
      const unpacked = inflate(data.subarray(2), dictionary, size);
      const missing = Math.max(0, WINDOW - unpacked.length);
      const kept = missing === 0 ? [] : [dictionary.subarray(Math.max(0, dictionary.length - missing))];
      dictionary = Buffer.concat([...kept, unpacked]);
      return unpacked;
    },
    copy: () => mszip(dictionary),
  };
}

function inflate(data: Buffer, dictionary: Buffer, size: number): Buffer {
  try {
    const unpacked = inflateRawSync(data, { dictionary, chunkSize: WINDOW + 1, maxOutputLength: WINDOW });
    if (unpacked.length === size) return unpacked;
    throw malformed(`a block has ${unpacked.length} bytes, and should have ${size}`);
  } catch (thrown) {
    if (thrown instanceof Error && 'errno' in thrown) throw malformed(thrown.message, thrown);
    if (thrown instanceof RangeError) throw malformed(`a block has more than ${WINDOW} bytes`, thrown);
    throw thrown;
  }
}
