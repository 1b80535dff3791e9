// Makes a ZIP of any size for measuring, always the same: `node make-archive.mjs OUT --entries N --bytes N [--even]` (APPNOTE 4.3).
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { classLikeContents, randomNumbers } from './contents.mjs';

const deflate = promisify(deflateRaw);

const DEFLATED = 8;
const STORED = 0;
const NAMES_ARE_UTF8 = 0x0800;
const WITH_DESCRIPTOR = 0x0008;
const LOCAL_BYTES = 30;
const DESCRIPTOR_BYTES = 16;
const CENTRAL_BYTES = 46;
const DATE = ((2026 - 1980) << 9) | (1 << 5) | 1;
const MOST_IN_16_BITS = 0xffff;
const MOST_IN_32_BITS = 0xffffffff;

/** Size of the data that is deflated in one step, and of the contents in memory at a time. */
const BATCH = 64;
const SETTLED = 1000;
const STORED_SHARE = 0.05;
const USUAL_RATIO = 2.2;

/**
 * Writes an archive of `entries` files and about `bytes` bytes in all. Sizes have the long tail that those of classes have;
 * with `even` they are between 0.3 and 1.7 of their mean.
 * The same Node gives the same bytes each time.
 */
export async function makeArchive(path, { entries, bytes, even = false }) {
  const random = randomNumbers(entries);
  const contents = classLikeContents(random);
  const file = openSync(path, 'w');
  const central = [];
  let at = 0;
  let [plain, packed, mean] = [0, 0, 0];
  const write = (...parts) => {
    for (const part of parts) at += writeSync(file, part);
  };
  const writeEntry = (entry) => {
    central.push(centralRecord(entry, at));
    write(...localRecord(entry));
  };
  try {
    writeEntry(
      await entryOf('META-INF/MANIFEST.MF', Buffer.from('Manifest-Version: 1.0\r\nMain-Class: A0\r\n\r\n'), false),
    );
    for (let number = 1; number < entries; number += BATCH) {
      const left = entries - number;
      // The size is met by looking back at what the entries so far came to, but not by the last ones alone.
      if (number === 1 || left > SETTLED) {
        const ratio = packed > 0 ? plain / packed : USUAL_RATIO;
        const records = LOCAL_BYTES + DESCRIPTOR_BYTES + CENTRAL_BYTES + 2 * nameOf(number).length;
        mean = Math.max(0, ((bytes - at - centralSize(central)) / left - records) * ratio);
      }
      const batch = Array.from({ length: Math.min(BATCH, left) }, (_, index) => {
        const size = Math.round(mean * (even ? evenSize(random()) : longTailedSize(random())));
        return entryOf(nameOf(number + index), contents(size), random() < STORED_SHARE);
      });
      for (const entry of await Promise.all(batch)) {
        plain += entry.size;
        packed += entry.data.length;
        writeEntry(entry);
      }
    }
    const start = at;
    write(Buffer.concat(central));
    write(...endRecords(entries, start, at - start));
  } finally {
    closeSync(file);
  }
}

const evenSize = (share) => 0.3 + 1.4 * share;
/** A mean of 1, a median of a third, and one in a hundred above 9. */
const longTailedSize = (share) => 0.1 + 0.45 * Math.log(1 - share) ** 2;
const nameOf = (number) => `org/example/part${number % 97}/layer${number % 11}/Thing${number}.class`;
const centralSize = (central) => central.length * (CENTRAL_BYTES + nameOf(central.length).length);

async function entryOf(name, content, stored) {
  const data = stored ? content : await deflate(content, { level: 6 });
  return { name: Buffer.from(name), stored, crc: crc32(content), size: content.length, data };
}

/** As `jar` writes it: the sizes of a deflated entry are behind it. */
function localRecord({ name, stored, crc, size, data }) {
  const header = Buffer.alloc(LOCAL_BYTES);
  header.writeUInt32LE(0x04034b50, 0);
  const known = stored ? { crc, size, packed: size } : { crc: 0, size: 0, packed: 0 };
  writeCommonFields(header, 4, { name, stored, ...known });
  if (stored) return [header, name, data];
  const descriptor = Buffer.alloc(DESCRIPTOR_BYTES);
  write32(descriptor, 0, 0x08074b50, crc, data.length, size);
  return [header, name, data, descriptor];
}

function centralRecord({ name, stored, crc, size, data }, offset) {
  const record = Buffer.alloc(CENTRAL_BYTES + name.length);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(20, 4);
  writeCommonFields(record, 6, { name, stored, crc, size, packed: data.length });
  record.writeUInt32LE(offset, 42);
  name.copy(record, CENTRAL_BYTES);
  return record;
}

/** The fields that both records have in the same order. */
function writeCommonFields(record, at, { name, stored, crc, size, packed }) {
  const flags = NAMES_ARE_UTF8 | (stored ? 0 : WITH_DESCRIPTOR);
  write16(record, at, 20, flags, stored ? STORED : DEFLATED, 0, DATE);
  write32(record, at + 10, crc, packed, size);
  write16(record, at + 22, name.length);
}

function endRecords(count, start, size) {
  const end = Buffer.alloc(22);
  const shown = Math.min(count, MOST_IN_16_BITS);
  write32(end, 0, 0x06054b50);
  write16(end, 8, shown, shown);
  write32(end, 12, Math.min(size, MOST_IN_32_BITS), Math.min(start, MOST_IN_32_BITS));
  if (count < MOST_IN_16_BITS && start < MOST_IN_32_BITS) return [end];
  const end64 = Buffer.alloc(56);
  write32(end64, 0, 0x06064b50);
  write64(end64, 4, 44);
  write16(end64, 12, 45, 45);
  write64(end64, 24, count, count, size, start);
  const locator = Buffer.alloc(20);
  write32(locator, 0, 0x07064b50);
  write64(locator, 8, start + size);
  write32(locator, 16, 1);
  return [end64, locator, end];
}

function write16(bytes, at, ...values) {
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, at + index * 2);
}

function write32(bytes, at, ...values) {
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, at + index * 4);
}

function write64(bytes, at, ...values) {
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), at + index * 8);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { entries: { type: 'string' }, bytes: { type: 'string' }, even: { type: 'boolean', default: false } },
  });
  const [path] = positionals;
  const [entries, bytes] = [Number(values.entries), Number(values.bytes)];
  if (path === undefined || !(entries > 0) || !(bytes > 0)) {
    console.error('node make-archive.mjs OUT --entries N --bytes N [--even]');
    process.exit(2);
  }
  await makeArchive(path, { entries, bytes, even: values.even });
  console.log(`${path}: ${entries} entries, ${statSync(path).size} bytes`);
}
