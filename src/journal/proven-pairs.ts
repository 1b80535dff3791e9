/** Certificate numbers and certificates that are known to belong together, since a signature of the one verified under the other. */

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Owner, openLines, unless } from './disk.ts';
import type { ProvenPair } from './journal.ts';

export interface ProvenPairs {
  has(pair: ProvenPair): Promise<boolean>;
  add(pair: ProvenPair): Promise<void>;
}

/** An empty file for each pair, named by its digest. */
export function provenPairs(folder: string, owner: Owner | undefined): ProvenPairs {
  const known = new Set<string>();
  const nameOf = ({ origin, code, leaf }: ProvenPair): string =>
    createHash('sha256')
      .update(JSON.stringify([origin, code, leaf]))
      .digest('hex');
  return {
    async has(pair) {
      const name = nameOf(pair);
      const stats = known.has(name) || (await unless('ENOENT', () => stat(join(folder, name))));
      return stats !== undefined;
    },
    async add(pair) {
      const name = nameOf(pair);
      if (known.has(name)) return;
      await using _file = await openLines(join(folder, name), 'may-exist', owner);
      known.add(name);
    },
  };
}
