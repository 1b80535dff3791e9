/** Every record that a filter lets through, oldest first, with its signature. */

import type { RecordFilter } from '../../src/records/records.ts';
import { batches } from '../../src/records/records.ts';
import type { SignatureRecord } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';

export async function allRecords({ records }: Store, filter: RecordFilter): Promise<readonly SignatureRecord[]> {
  const found: SignatureRecord[] = [];
  for await (const batch of batches(records, filter, 'oldest first')) {
    for (const { id } of batch) {
      const record = await records.find(id);
      if (record !== undefined) found.push(record);
    }
  }
  return found;
}
