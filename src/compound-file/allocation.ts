/** Assigns the sectors of a new compound file to its chains, and generates the FAT that records them. */

import { compoundFileErrors } from './errors.ts';
import {
  DIFAT_SECTOR,
  END_OF_CHAIN,
  FAT_SECTOR,
  FREE,
  HEADER_FAT_SECTORS,
  RANGE_LOCK_SECTOR,
  SECTOR_LENGTH,
  SIZE_LIMIT,
  type Version,
} from './format.ts';

/** Length in bytes of a block, a multiple of the sector size of both versions. */
const BLOCK_LENGTH = 64 * 1024;

/** Hands out sectors in order. Each chain is contiguous, except around the range lock. */
export class Allocation {
  readonly #version: Version;
  readonly #length: number;
  /** First sector and count of each chain in order, numbered as if there were no range lock. */
  readonly #chains: (readonly [start: number, count: number])[] = [];
  #next = 0;

  constructor(version: Version) {
    this.#version = version;
    this.#length = SECTOR_LENGTH[version];
  }

  /** Reserves sectors for that many bytes and returns the first one. */
  take(bytes: number): number {
    const count = Math.ceil(bytes / this.#length);
    if (count === 0) return END_OF_CHAIN;
    const start = this.#next;
    this.#chains.push([start, count]);
    this.#next += count;
    return this.#sector(start);
  }

  /** Adds the FAT and DIFAT, which must also describe themselves. */
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

  /** Yields the FAT in small pieces, because that of a 16 GiB file has 16 MiB. */
  *fat(fatSectors: readonly number[], difatSectors: readonly number[]): Generator<Uint8Array> {
    const runs = this.#runs(fatSectors.length, difatSectors.length);
    const count = (fatSectors.length * this.#length) / 4;
    let index = 0;
    for (let first = 0; first < count; first += BLOCK_LENGTH / 4) {
      const words = new DataView(new ArrayBuffer(Math.min(BLOCK_LENGTH, (count - first) * 4)));
      for (let at = 0; at < words.byteLength / 4; ) {
        const { end, word, last } = runs[index] ?? FREE_RUN;
        const until = Math.min(end - first, words.byteLength / 4);
        if (word === undefined) fillWords(words, at, until, first + at + 1, 1);
        else fillWords(words, at, until, word, 0);
        if (first + until === end) {
          words.setUint32((until - 1) * 4, last, true);
          index += 1;
        }
        at = until;
      }
      yield new Uint8Array(words.buffer);
    }
  }

  #runs(fatCount: number, difatCount: number): readonly Run[] {
    const runs: Run[] = [];
    let end = 0;
    const add = (start: number, count: number, word: number | undefined) => {
      for (let left = count; left > 0; ) {
        const first = this.#sector(start + count - left);
        if (first > end) runs.push({ end: first, word: END_OF_CHAIN, last: END_OF_CHAIN });
        const before = this.#version === 4 && first < RANGE_LOCK_SECTOR ? RANGE_LOCK_SECTOR : Number.POSITIVE_INFINITY;
        end = Math.min(first + left, before);
        left -= end - first;
        runs.push({ end, word, last: word ?? (left === 0 ? END_OF_CHAIN : end + 1) });
      }
    };
    for (const [start, count] of this.#chains) add(start, count, undefined);
    add(this.#next, fatCount, FAT_SECTOR);
    add(this.#next + fatCount, difatCount, DIFAT_SECTOR);
    return runs;
  }

  #sector(index: number): number {
    return this.#version === 4 && index >= RANGE_LOCK_SECTOR ? index + 1 : index;
  }
}

/** A run of sectors from the end of the previous run to `end`. */
interface Run {
  readonly end: number;
  /** FAT entry of each sector; undefined if the entry is the number of the next sector. */
  readonly word: number | undefined;
  readonly last: number;
}

const FREE_RUN: Run = { end: Number.POSITIVE_INFINITY, word: FREE, last: FREE };

/** Fills the words from `start` to `end`. Inside a generator, this loop would take ten times as long. */
function fillWords(words: DataView, start: number, end: number, first: number, step: 0 | 1): void {
  let word = first;
  for (let at = start; at < end; at += 1) {
    words.setUint32(at * 4, word, true);
    word += step;
  }
}
