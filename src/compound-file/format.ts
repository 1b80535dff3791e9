import type { ByteRange, Piece } from '../bytes/pieces.ts';

export const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
export const HEADER_LENGTH = 512;
export const ENTRY_LENGTH = 128;
export const MINI_SECTOR_LENGTH = 64;
/** Shorter streams are stored in the mini stream. */
export const MINI_CUTOFF = 4096;
/** Number of FAT sectors that the header lists. DIFAT sectors list all others. */
export const HEADER_FAT_SECTORS = 109;

export const FREE = 0xffff_ffff;
export const END_OF_CHAIN = 0xffff_fffe;
export const FAT_SECTOR = 0xffff_fffd;
export const DIFAT_SECTOR = 0xffff_fffc;
export const NO_STREAM = 0xffff_ffff;

export const TYPE_STORAGE = 1;
export const TYPE_STREAM = 2;
export const TYPE_ROOT = 5;

/** Windows locks byte ranges in this sector, which is never part of a stream (MS-CFB, 2.8). */
export const RANGE_LOCK_SECTOR = Math.floor(0x7fff_ff00 / 4096) - 1;

export type Version = 3 | 4;

export const SECTOR_LENGTH = { 3: 512, 4: 4096 } as const;
export const SIZE_LIMIT = { 3: 2 ** 31, 4: 2 ** 34 } as const;

export interface CompoundStream {
  readonly kind: 'stream';
  readonly name: Uint8Array;
  readonly entry: Uint8Array;
  readonly size: number;
  readonly content: Iterable<Piece>;
  /** If true, this stream is stored after all others, so their offsets do not depend on its length. */
  readonly isLast?: boolean;
}

export interface CompoundStorage {
  readonly kind: 'storage';
  readonly name: Uint8Array;
  readonly entry: Uint8Array;
  readonly children: readonly CompoundNode[];
}

export type CompoundNode = CompoundStream | CompoundStorage;

export interface CompoundFile {
  readonly version: Version;
  readonly header: Uint8Array;
  readonly root: CompoundStorage;
  /** Sectors to which no structure refers, including those after the end of the FAT. */
  readonly unused: Iterable<ByteRange>;
}

/** Compares two UTF-16LE names in a storage (MS-CFB, 2.6.4): first by length, then by upper-case code units. */
export function compareNames(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  const [one, other] = [upperCase(a), upperCase(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Converts each code unit separately. Does not change letters whose upper-case form has several code units. */
function upperCase(name: Uint8Array): string {
  const units = Buffer.from(name).toString('utf16le').split('');
  return units.map((unit) => (unit.toUpperCase().length === 1 ? unit.toUpperCase() : unit)).join('');
}
