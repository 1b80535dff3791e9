/** The committed fixtures by their manifest, and files of other folders. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Fixture {
  /** Path under fixtures/, with `/`. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly what: string;
  /** The error code that `open` must give. */
  readonly code?: string;
  /** The error code that `prepare` must give in append mode. */
  readonly appendCode?: string;
  readonly looksLike?: string;
}

/** A file that has the marks of the format and is rejected as malformed. */
export const malformed = (code: string, name: string, what: string, bytes: Buffer): Fixture => ({
  ...{ name, what, bytes, code },
});

/** A copy with this number of 32 bits at the offset. */
export function withWord(bytes: Buffer, offset: number, word: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32LE(word, offset);
  return copy;
}

const FOLDER = new URL('../../../../fixtures/', import.meta.url);

export function readFixture(name: string): Buffer {
  return readFileSync(new URL(name, FOLDER));
}

/** The fixtures of one folder, `pe` say. */
export function fixturesIn(folder: string): readonly Fixture[] {
  const manifest: Record<string, Omit<Fixture, 'name' | 'bytes'>> = JSON.parse(readFixture('manifest.json').toString());
  return Object.entries(manifest)
    .filter(([name]) => name.startsWith(`${folder}/`))
    .map(([name, about]) => ({ ...about, name, bytes: readFixture(name) }));
}

/** Files of a folder and those below it, by a filter over their names. */
export function filesBelow(folder: string, isWanted: (name: string) => boolean): { name: string; bytes: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((name) => ({ name, bytes: readFileSync(name) }));
}
