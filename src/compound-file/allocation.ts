/** Which sectors of a new compound file each chain gets, and the FAT that says so. */

import { compoundFileErrors } from './errors.ts';
import {
  DIFAT_SECTOR,
  END_OF_CHAIN,
  FAT_SECTOR,
  HEADER_FAT_SECTORS,
  RANGE_LOCK_SECTOR,
  SECTOR_LENGTH,
  SIZE_LIMIT,
  type Version,
} from './format.ts';

/** Whole sectors of either version. In bytes. */
const BLOCK_LENGTH = 64 * 1024;

/** Sectors in the order in which they are taken, each chain without a gap except the range lock. */
export class Allocation {
  readonly #version: Version;
  readonly #length: number;
  /** First sector and count of each chain, one after the other, in sectors as if there were no range lock. */
  readonly #chains: (readonly [start: number, count: number])[] = [];
  #next = 0;

  constructor(version: Version) {
    this.#version = version;
    this.#length = SECTOR_LENGTH[version];
  }

  /** The first sector for so many bytes. */
  take(bytes: number): number {
    const count = Math.ceil(bytes / this.#length);
    if (count === 0) return END_OF_CHAIN;
    const start = this.#next;
    this.#chains.push([start, count]);
    this.#next += count;
    return this.#sector(start);
  }

  /** Adds FAT and DIFAT, which must describe themselves too. */
  finish(): { fatSectors: number[]; difatSectors: number[] } {
    const perSector = this.#length / 4;
    let [fatCount, difatCount] = [0, 0];
    const total = () => this.#sector(this.#next + fatCount + difatCount - 1) + 1;
    while (total() > fatCount * perSector) {
      fatCount += 1;
      difatCount = Math.ceil(Math.max(0, fatCount - HEADER_FAT_SECTORS) / (perSector - 1));
    }
    const size = (total() + 1) * this.#length;
    const limit = SIZE_LIMIT[this.#version];
    if (size > limit) throw compoundFileErrors('compound-file-too-large', { size, version: this.#version, limit });
    const numbered = (start: number, count: number) =>
      Array.from({ length: count }, (_, index) => this.#sector(start + index));
    const fatSectors = numbered(this.#next, fatCount);
    const difatSectors = numbered(this.#next + fatCount, difatCount);
    return { fatSectors, difatSectors };
  }

  /** The contents of the FAT, a few sectors at a time: for 16 GiB it has 16 MiB. */
  *fat(fatSectors: readonly number[], difatSectors: readonly number[]): Generator<Buffer> {
    const runs: readonly (readonly [count: number, word: number | undefined])[] = [
      ...this.#chains.map(([, count]) => [count, undefined] as const),
      [fatSectors.length, FAT_SECTOR],
      [difatSectors.length, DIFAT_SECTOR],
    ];
    let bytes = Buffer.alloc(BLOCK_LENGTH, 0xff);
    let position = 0;
    let index = 0;
    for (const [count, word] of runs) {
      for (let rest = count; rest > 0; rest -= 1) {
        const words = this.#version === 4 && index === RANGE_LOCK_SECTOR ? 2 : 1;
        index += 1;
        for (let at = 1; at <= words; at += 1) {
          const isLock = at < words;
          const next = rest === 1 ? END_OF_CHAIN : this.#sector(index);
          bytes.writeUInt32LE(isLock ? END_OF_CHAIN : (word ?? next), position);
          position += 4;
          if (position < BLOCK_LENGTH) continue;
          yield bytes;
          bytes = Buffer.alloc(BLOCK_LENGTH, 0xff);
          position = 0;
        }
      }
    }
    if (position > 0) yield bytes.subarray(0, Math.ceil(position / this.#length) * this.#length);
  }

  #sector(index: number): number {
    return this.#version === 4 && index >= RANGE_LOCK_SECTOR ? index + 1 : index;
  }
}
