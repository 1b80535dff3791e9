/** The inputs of random changes: fixtures, generated files, and small files of the corpus if one is given. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ExpectedAnswer } from '../../src/timestamp/check-answer.ts';

const SIGNATURE_VALUE = new Uint8Array(256).fill(0x5a);

/** What the answers of the authority among the bases are to. */
export const ASKED = {
  signatureValue: SIGNATURE_VALUE,
  algorithm: 'SHA256',
  policy: undefined,
  nonce: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
  digest: createHash('sha256').update(SIGNATURE_VALUE).digest(),
} as const satisfies Omit<ExpectedAnswer, 'now'> & { digest: Uint8Array };

export const P12_PASSWORD = 'example';

/**
 * Of what comes out of an archive: small files of the corpus unpack to 16 MB, which a case would copy a dozen times.
 * test/system/hostile holds what the program itself takes for such.
 */
export const LARGEST_UNPACKED = 1024 * 1024;

export interface Bases {
  read(name: string): Buffer;
  /** Fixtures of these folders with one of these endings, and what the corpus has of the kind. */
  all(folders: readonly string[], endings: readonly string[], corpus?: readonly string[]): readonly Buffer[];
}

/** Of a file of the corpus: each case reads the whole of it, several times. */
const LARGEST = 64 * 1024;
const MOST_OF_CORPUS = 40;

/** `corpus`: the folder named by CODESIGN_TEST_CORPUS; without it the same seed gives other cases. */
export function openBases(fixtures: string, corpus: string | undefined): Bases {
  const read = (name: string): Buffer => readFileSync(join(fixtures, name));
  return {
    read,
    all(folders, endings, inCorpus = []) {
      const own = folders.flatMap((folder) => filesIn(join(fixtures, folder), endings));
      const others = corpus === undefined ? [] : inCorpus.flatMap((folder) => smallFilesIn(join(corpus, folder)));
      return [...own, ...others].map((path) => readFileSync(path));
    },
  };
}

function filesIn(folder: string, endings: readonly string[]): string[] {
  const names = readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
  // What was found by chance is no place to start from.
  return names
    .filter((name) => !folder.endsWith('fuzz') || name.startsWith('base-'))
    .sort()
    .map((name) => join(folder, name));
}

function smallFilesIn(folder: string): string[] {
  const paths = readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
  return paths.filter((path) => statSync(path).size <= LARGEST).slice(0, MOST_OF_CORPUS);
}
