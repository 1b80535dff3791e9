/** Contains everything that determines a signature except the content. The signing time is chosen only once. */

import { resolve } from 'node:path';
import type { SigningContext } from '../format/signable-file.ts';
import type { Journal } from '../journal/journal.ts';
import { filesToSign } from './files/inner-files.ts';
import type { PlannedFile } from './planned-file.ts';
import type { Account } from './service/account.ts';

export type RunContext = Omit<SigningContext, 'time'>;

/** The signing time that an earlier run chose for the file, and the digest that it sent. */
export interface EarlierTime {
  readonly time: Date;
  readonly digest: string;
}

export type FindEarlierTimes = (plan: PlannedFile) => Promise<readonly EarlierTime[]>;

/** Reads the earlier calls only once, and only for formats in which the signing time is signed. */
export function earlierTimes({ journal, origin, code }: Account): FindEarlierTimes {
  let reading: ReturnType<Journal['repeatable']> | undefined;
  return async ({ format, path, output, contained }) => {
    const formats = [format, ...filesToSign(contained?.toChange ?? []).map((file) => file.format)];
    if (!formats.some(({ signing }) => signing?.signsTime)) return [];
    reading ??= journal.repeatable();
    const [from, to] = [resolve(path), resolve(output)];
    return (await reading).flatMap(({ work, files }) => {
      if (work.origin !== origin || work.code !== code) return [];
      const options = files.map(({ signingOptions }) => signingOptions);
      const own = options.find((one) => one?.path === from && one.output === to);
      return own?.time === undefined ? [] : [{ time: new Date(own.time), digest: work.digest }];
    });
  };
}
