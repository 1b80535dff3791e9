// Inflates every entry of a ZIP in turn on one thread and keeps nothing: `node inflate-all.mjs ARCHIVE`, the least a signer must do.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
const LOCATOR_BYTES = 20;
const END_64_BYTES = 56;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;
const DEFLATED = 8;

const file = openSync(process.argv[2], 'r');
const { size: fileSize } = fstatSync(file);
let window = Buffer.alloc(0);
let windowStart = 0;
let [entries, inflated] = [0, 0];
const { start, size } = findDirectory();
const directory = read(start, size, Buffer.alloc(size));
for (let at = 0; at < size; entries++) {
  const packed = directory.readUInt32LE(at + 20);
  const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field));
  const local = directory.readUInt32LE(at + 42);
  const header = windowed(local, LOCAL_BYTES);
  const data = local + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  const bytes = windowed(data, packed);
  const deflated = directory.readUInt16LE(at + 10) === DEFLATED;
  inflated += (deflated ? inflateRawSync(bytes) : bytes).length;
  at += CENTRAL_BYTES + name + extra + comment;
}
closeSync(file);
console.log(`${entries} entries, ${inflated} bytes`);

function findDirectory() {
  const tail = Math.min(fileSize, END_BYTES + LONGEST_COMMENT);
  const bytes = read(fileSize - tail, tail, Buffer.alloc(tail));
  const end = bytes.lastIndexOf('PK\x05\x06', -END_BYTES, 'latin1');
  const locator = end - LOCATOR_BYTES;
  if (bytes.toString('latin1', Math.max(0, locator), locator + 4) !== 'PK\x06\x07') {
    return { size: bytes.readUInt32LE(end + 12), start: bytes.readUInt32LE(end + 16) };
  }
  const large = read(Number(bytes.readBigUInt64LE(locator + 8)), END_64_BYTES, Buffer.alloc(END_64_BYTES));
  return { size: Number(large.readBigUInt64LE(40)), start: Number(large.readBigUInt64LE(48)) };
}

/** Bytes of the file from a window that moves on: one read for many small entries. */
function windowed(offset, length) {
  if (offset < windowStart || offset + length > windowStart + window.length) {
    const wanted = Math.min(Math.max(length, 1024 * 1024), fileSize - offset);
    window = read(offset, wanted, Buffer.allocUnsafe(wanted));
    windowStart = offset;
  }
  return window.subarray(offset - windowStart, offset - windowStart + length);
}

function read(offset, length, into) {
  if (readSync(file, into, 0, length, offset) !== length) throw new Error(`the archive ends before ${offset + length}`);
  return into;
}
