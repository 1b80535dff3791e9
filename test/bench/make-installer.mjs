// A compound file with the root of an installer package, a small stream and a large one of random bytes, of version 3 or 4 (MS-CFB).
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';

const END = 0xfffffffe;
const HEADER_FAT_SECTORS = 109;
const PACKAGE = '84100c0000000000c000000000000046';

/** Sectors of the mini stream, of the mini FAT and of the directory: osslsigncode rejects files whose directory is the first one. */
const BEFORE = 3;
const SMALL = 64;

/** Writes the file; the large stream has `bytes` bytes. */
export function makeInstaller(path, bytes, version) {
  const length = version === 3 ? 512 : 4096;
  const streamCount = Math.ceil(bytes / length);
  let [fatCount, difatCount] = [0, 0];
  while (BEFORE + streamCount + fatCount + difatCount > (fatCount * length) / 4) {
    fatCount += 1;
    difatCount = Math.ceil(Math.max(0, fatCount - HEADER_FAT_SECTORS) / (length / 4 - 1));
  }
  const firstFat = BEFORE + streamCount;
  const firstDifat = firstFat + fatCount;
  const file = openSync(path, 'w');
  writeSync(file, header({ version, length, fatCount, firstFat, difatCount, firstDifat }));
  const miniFat = Buffer.alloc(length, 0xff);
  miniFat.writeUInt32LE(END);
  writeSync(file, Buffer.alloc(length, 's'));
  writeSync(file, miniFat);
  writeSync(file, directory(length, bytes));
  const chunk = randomBytes(length * 256);
  for (let left = streamCount * length; left > 0; left -= chunk.length) {
    writeSync(file, chunk, 0, Math.min(left, chunk.length));
  }
  writeSync(file, fat({ length, streamCount, fatCount, difatCount }));
  writeSync(file, difat({ length, fatCount, firstFat, difatCount, firstDifat }));
  closeSync(file);
}

function header({ version, length, fatCount, firstFat, difatCount, firstDifat }) {
  const bytes = Buffer.alloc(length);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  for (const [index, word] of [0x3e, version, 0xfffe, version === 3 ? 9 : 12, 6].entries()) {
    bytes.writeUInt16LE(word, 24 + index * 2);
  }
  const words = [version === 3 ? 0 : 1, fatCount, 2, 0, 4096, 1, 1, difatCount > 0 ? firstDifat : END, difatCount];
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, 40 + index * 4);
  for (let index = 0; index < HEADER_FAT_SECTORS; index++) {
    bytes.writeUInt32LE(index < fatCount ? firstFat + index : 0xffffffff, 76 + index * 4);
  }
  return bytes;
}

function directory(length, size) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 128) bytes.fill(0xff, at + 68, at + 80);
  const entry = (at, name, type, start, streamSize) => {
    bytes.write(name, at, 'utf16le');
    bytes.writeUInt16LE((name.length + 1) * 2, at + 64);
    bytes[at + 66] = type;
    bytes[at + 67] = 1;
    bytes.writeUInt32LE(start, at + 116);
    bytes.writeUInt32LE(streamSize, at + 120);
  };
  entry(0, 'Root Entry', 5, 0, SMALL);
  bytes.writeUInt32LE(1, 76);
  bytes.write(PACKAGE, 80, 'hex');
  entry(128, 'Cabinet', 2, BEFORE, size);
  bytes.writeUInt32LE(2, 128 + 68);
  entry(256, 'Small', 2, 0, SMALL);
  return bytes;
}

function fat({ length, streamCount, fatCount, difatCount }) {
  const bytes = Buffer.alloc(fatCount * length, 0xff);
  const words = function* () {
    for (let sector = 0; sector < BEFORE; sector++) yield END;
    for (let sector = 1; sector < streamCount; sector++) yield BEFORE + sector;
    yield END;
    for (let index = 0; index < fatCount; index++) yield 0xfffffffd;
    for (let index = 0; index < difatCount; index++) yield 0xfffffffc;
  };
  let at = 0;
  for (const word of words()) at = bytes.writeUInt32LE(word, at);
  return bytes;
}

function difat({ length, fatCount, firstFat, difatCount, firstDifat }) {
  const bytes = Buffer.alloc(difatCount * length, 0xff);
  const perSector = length / 4 - 1;
  for (let index = HEADER_FAT_SECTORS; index < fatCount; index++) {
    const [sector, word] = [
      Math.floor((index - HEADER_FAT_SECTORS) / perSector),
      (index - HEADER_FAT_SECTORS) % perSector,
    ];
    bytes.writeUInt32LE(firstFat + index, sector * length + word * 4);
  }
  for (let sector = 0; sector < difatCount; sector++) {
    bytes.writeUInt32LE(sector + 1 < difatCount ? firstDifat + sector + 1 : END, (sector + 1) * length - 4);
  }
  return bytes;
}
