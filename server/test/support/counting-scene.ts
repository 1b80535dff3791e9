/** Certificates and records for tests of counting. */

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { batches, type RecordFilter } from '../../src/records/records.ts';
import type { Client, NewRecord, SignatureRecord } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';

export const PATIENCE = { settling: 10_000, ending: new AbortController().signal };

/** Valid for one year up to that time. */
export function certificateUntil(number: string, notAfter: Date) {
  const notBefore = new Date(Date.UTC(notAfter.getUTCFullYear(), 0));
  return { number, keyId: 'aa', chain: 'chain', notBefore, notAfter };
}

/** A new record of a signature with certificate 1. */
export function recordFor(clientId: string, signedAt: Date): NewRecord {
  return {
    ...{ id: randomUUID(), clientId, certificate: '1', algorithm: 'SHA256', digest: Buffer.alloc(32, 2) },
    ...{ extra: { hostname: 'a\u0000b' }, signature: Buffer.from([1, 2, 3]), signedAt },
  };
}

export async function countedFor(store: Store, { accessKey }: Pick<Client, 'accessKey'>): Promise<number> {
  return (await store.clients.findByAccessKey(accessKey))?.signatures ?? expect.unreachable();
}

/** Every record that a filter lets through, oldest first, with its signature. */
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
