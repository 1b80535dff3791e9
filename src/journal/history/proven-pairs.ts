/** Certificate numbers and certificates that are known to belong together, since a signature of the one verified under the other. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from '../disk.ts';
import type { ProvenPair } from '../journal.ts';

export interface ProvenPairs {
  has(pair: ProvenPair): Promise<boolean>;
  add(pair: ProvenPair): Promise<void>;
}

/** An empty file for each pair, named by its digest. */
export function provenPairs(folder: string, disk: Disk): ProvenPairs {
  const known = new Set<string>();
  const nameOf = ({ origin, code, leaf }: ProvenPair): string =>
    createHash('sha256')
      .update(JSON.stringify([origin, code, leaf]))
      .digest('hex');
  return {
    async has(pair) {
      const name = nameOf(pair);
      const size = known.has(name) ? 0 : await disk.sizeOf(join(folder, name));
      return size !== undefined;
    },
    async add(pair) {
      const name = nameOf(pair);
      if (known.has(name)) return;
      await using _file = await disk.openLines(join(folder, name), 'may-exist');
      known.add(name);
    },
  };
}
