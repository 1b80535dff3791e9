/** Pairs of a certificate number and a certificate: which belong together, and which do not, as signatures have shown. */

import { join } from 'node:path';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import type { Disk } from './disk.ts';
import type { Pair } from './journal.ts';

const MISMATCH_FILE = /^([0-9a-f]{64})\.([0-9a-z]+)$/;

/** Both folders have empty files, named by the digest of the pair; for a mismatch, by the call too. */
export function openPairs(folders: { readonly proven: string; readonly mismatches: string }, disk: Disk) {
  const known = new Set<string>();
  const nameOf = ({ origin, code, leaf }: Pair): string => fingerprintOf(JSON.stringify([origin, code, leaf]));

  async function hasMatched(name: string): Promise<boolean> {
    return known.has(name) || (await disk.sizeOf(join(folders.proven, name))) !== undefined;
  }

  async function mismatchFiles(): Promise<readonly { readonly file: string; pair: string; call: string }[]> {
    return (await disk.namesIn(folders.mismatches)).flatMap((file) => {
      const [, pair, call] = MISMATCH_FILE.exec(file) ?? [];
      return pair === undefined || call === undefined ? [] : [{ file, pair, call }];
    });
  }

  async function removeMismatches(isMeant: (mismatch: { pair: string; call: string }) => boolean): Promise<boolean> {
    const meant = (await mismatchFiles()).filter(isMeant);
    for (const { file } of meant) await disk.removeFile(join(folders.mismatches, file));
    return meant.length > 0;
  }

  return {
    async isProven(pair: Pair): Promise<boolean> {
      const name = nameOf(pair);
      return (await hasMatched(name)) && !(await mismatchFiles()).some((mismatch) => mismatch.pair === name);
    },
    /** `isNew`: the signature was requested just now, so earlier mismatches no longer count. */
    async prove(pair: Pair, isNew: boolean): Promise<void> {
      const name = nameOf(pair);
      if (isNew) await removeMismatches((mismatch) => mismatch.pair === name);
      if (known.has(name)) return;
      await disk.makeEmpty(join(folders.proven, name));
      known.add(name);
    },
    /** The signature of the call does not verify with the certificate. */
    disprove: (pair: Pair, call: string): Promise<void> =>
      disk.makeEmpty(join(folders.mismatches, `${nameOf(pair)}.${call}`)),
    /** One faulty answer does not outweigh a match, two do. */
    async mismatches(pair: Pair): Promise<readonly string[]> {
      const name = nameOf(pair);
      const calls = (await mismatchFiles()).filter((mismatch) => mismatch.pair === name).map(({ call }) => call);
      return calls.length > 1 || !(await hasMatched(name)) ? calls : [];
    },
    /** False if the call showed no mismatch. */
    forget: (call: string): Promise<boolean> => removeMismatches((mismatch) => mismatch.call === call),
  };
}
