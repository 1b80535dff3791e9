import type { ByteSource } from '../bytes/byte-source.ts';
import { bytesErrors } from '../bytes/errors.ts';
import { type ByteRange, readPieces } from '../bytes/pieces.ts';
import {
  END_OF_CHAIN,
  FREE,
  HEADER_FAT_SECTORS,
  RANGE_LOCK_SECTOR,
  SECTOR_LENGTH,
  SIZE_LIMIT,
  type Version,
} from './format.ts';

/** The allocation table of a compound file, and the sectors that are in use. */
export class Sectors {
  readonly length: number;
  readonly #source: ByteSource;
  readonly #version: Version;
  /** Number of sectors, including an incomplete sector at the end of the file. */
  readonly #count: number;
  readonly #owned: Uint8Array;
  #fat = new Uint32Array();

  constructor(source: ByteSource, version: Version) {
    if (source.size > SIZE_LIMIT[version]) throw tooLarge(source.size, version);
    this.length = SECTOR_LENGTH[version];
    this.#source = source;
    this.#version = version;
    this.#count = Math.max(0, Math.ceil(source.size / this.length) - 1);
    this.#owned = new Uint8Array(this.#count);
  }

  async readFat(header: DataView): Promise<void> {
    const fatSectors = await this.#listFatSectors(header);
    const perSector = this.length / 4;
    const needed = Math.min(fatSectors.length, Math.ceil(this.#count / perSector));
    const fat = new Uint32Array(this.#count).fill(END_OF_CHAIN);
    let sector = 0;
    for await (const chunk of readPieces(this.#source, this.#rangesOf(fatSectors.slice(0, needed), 'the FAT'))) {
      putWords(chunk, fat, sector);
      sector += chunk.length / 4;
    }
    this.#fat = fat;
    if (this.#version === 4 && RANGE_LOCK_SECTOR < this.#count) this.#claim(RANGE_LOCK_SECTOR, 'the range lock');
  }

  /** Marks `count` sectors of a chain (default: all) as in use. Throws if one of these sectors is already in use. */
  claimChain(start: number, count: number | undefined, what: string): { count: number; last: number | undefined } {
    // With class members instead of local variables, this loop would take several times as long.
    const [fat, owned] = [this.#fat, this.#owned];
    let claimed = 0;
    let last: number | undefined;
    let sector = start;
    while (count === undefined ? sector !== END_OF_CHAIN : claimed < count) {
      if (sector === END_OF_CHAIN) throw malformed(`the chain of ${what} is too short`);
      if (owned[sector] !== 0) this.#claim(sector, what);
      owned[sector] = 1;
      claimed += 1;
      last = sector;
      sector = fat[sector] ?? END_OF_CHAIN;
    }
    return { count: claimed, last };
  }

  *follow(start: number, count: number): Generator<number> {
    let sector = start;
    for (let index = 0; index < count; index += 1) {
      yield sector;
      sector = this.#fat[sector] ?? END_OF_CHAIN;
    }
  }

  *ranges(start: number, size: number): Generator<ByteRange> {
    const fat = this.#fat;
    let sector = start;
    for (let rest = Math.ceil(size / this.length), left = size; rest > 0; ) {
      const first = sector;
      let end = first;
      do {
        sector = fat[end] ?? END_OF_CHAIN;
        end += 1;
      } while (sector === end && end - first < rest);
      const length = Math.min((end - first) * this.length, left);
      yield { start: this.offsetOf(first), end: this.offsetOf(first) + length };
      rest -= end - first;
      left -= length;
    }
  }

  /** Marks the sectors of a chain as in use, and reads its first `most` bytes, rounded up to whole sectors. */
  async readChain(start: number, count: number | undefined, what: string, most: number): Promise<Buffer> {
    const { count: claimed } = this.claimChain(start, count, what);
    return this.#readWhole([...this.follow(start, Math.min(claimed, Math.ceil(most / this.length)))], what);
  }

  offsetOf(sector: number): number {
    return (sector + 1) * this.length;
  }

  /** Marks the sectors of a chain of `size` bytes as in use, and checks that the file contains all of these bytes. */
  claimContent(start: number, size: number, what: string): number {
    const { count, last } = this.claimChain(start, Math.ceil(size / this.length), what);
    if (last !== undefined) this.#checkEnd(this.offsetOf(last) + size - (count - 1) * this.length, what);
    return count;
  }

  unused(): Iterable<ByteRange> {
    const [owned, length, { size }] = [this.#owned, this.length, this.#source];
    return {
      *[Symbol.iterator]() {
        for (let sector = owned.indexOf(0); sector >= 0; ) {
          const next = owned.indexOf(1, sector);
          const end = next < 0 ? owned.length : next;
          yield { start: (sector + 1) * length, end: Math.min((end + 1) * length, size) };
          sector = owned.indexOf(0, end);
        }
      },
    };
  }

  async #listFatSectors(header: DataView): Promise<readonly number[]> {
    const count = header.getUint32(44, true);
    if (count > this.#count) throw malformed(`its header declares ${count} FAT sectors`);
    const listed: number[] = [];
    for (let index = 0; index < Math.min(count, HEADER_FAT_SECTORS); index += 1) {
      listed.push(header.getUint32(76 + index * 4, true));
    }
    const difatCount = Math.ceil((count - listed.length) / (this.length / 4 - 1));
    let sector = header.getUint32(68, true);
    const isEmpty = [END_OF_CHAIN, FREE, 0].includes(sector);
    if (header.getUint32(72, true) !== difatCount || (difatCount === 0) !== isEmpty) {
      throw malformed('the length of its DIFAT does not match its FAT');
    }
    while (listed.length < count) {
      this.#claim(sector, 'the DIFAT');
      const bytes = await this.#readWhole([sector], 'the DIFAT');
      for (let at = 0; at < this.length - 4 && listed.length < count; at += 4) listed.push(bytes.readUInt32LE(at));
      sector = bytes.readUInt32LE(this.length - 4);
    }
    for (const each of listed) this.#claim(each, 'the FAT');
    return listed;
  }

  async #readWhole(sectors: readonly number[], what: string): Promise<Buffer> {
    const ranges = this.#rangesOf(sectors, what);
    const bytes = Buffer.alloc(sectors.length * this.length);
    let position = 0;
    for await (const chunk of readPieces(this.#source, ranges)) {
      bytes.set(chunk, position);
      position += chunk.length;
    }
    return bytes;
  }

  #rangesOf(sectors: readonly number[], what: string): readonly ByteRange[] {
    const ranges = sectors.map((sector) => ({ start: this.offsetOf(sector), end: this.offsetOf(sector + 1) }));
    for (const { end } of ranges) this.#checkEnd(end, what);
    return ranges;
  }

  #checkEnd(end: number, what: string): void {
    const { size } = this.#source;
    if (end > size) throw bytesErrors('file-truncated', { size, what, end });
  }

  #claim(sector: number, what: string): void {
    if (sector >= this.#count) throw malformed(`${what} refers to sector ${sector}, but there are only ${this.#count}`);
    if (this.#owned[sector] === 1) throw malformed(`${what} refers to sector ${sector}, which is already in use`);
    this.#owned[sector] = 1;
  }
}

function putWords(chunk: Uint8Array, fat: Uint32Array, start: number): void {
  const words = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  const end = Math.min(fat.length, start + chunk.length / 4);
  for (let sector = start; sector < end; sector += 1) fat[sector] = words.getUint32((sector - start) * 4, true);
}

export function malformed(problem: string) {
  return bytesErrors('file-malformed', { what: 'the compound file', problem });
}

export function tooLarge(size: number, version: Version) {
  const kind = `compound files of version ${version}`;
  return bytesErrors('file-too-large', { size, kind, limit: SIZE_LIMIT[version] });
}
