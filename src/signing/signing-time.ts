/** The time that some formats sign: chosen once, recorded with the request, and reused by every run that does the same work. */

import { resolve } from 'node:path';
import type { Journal } from '../journal/journal.ts';
import type { PlannedFile } from './change.ts';
import type { Account } from './service/signatures.ts';

/** A time that an earlier run chose for the file, and the digest that it requested a signature of. */
export interface EarlierTime {
  readonly time: Date;
  readonly digest: Uint8Array;
}

export type FindEarlierTimes = (plan: PlannedFile) => Promise<readonly EarlierTime[]>;

/** Reads the unfinished calls of the journal once, and only for formats that sign a time. */
export function earlierTimes({ claims, origin, code }: Pick<Account, 'claims' | 'origin' | 'code'>): FindEarlierTimes {
  let reading: ReturnType<Journal['unfinished']> | undefined;
  return async ({ format, path, output }) => {
    if (format.signsTime !== true) return [];
    reading ??= claims.unfinished();
    const [from, to] = [resolve(path), resolve(output)];
    return (await reading).flatMap(({ at, work, files }) => {
      if (work.origin !== origin || work.code !== code) return [];
      const options = files.map(({ signingOptions }) => signingOptions);
      const own = options.find((one) => one?.path === from && one.output === to);
      // Entries of earlier versions have no time but that of the call.
      return own === undefined ? [] : [{ time: new Date(own.time ?? at), digest: work.digest }];
    });
  };
}
