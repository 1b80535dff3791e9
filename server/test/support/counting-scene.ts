/** Clients, certificates and records for tests of counting. */

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client, NewClient, NewRecord } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';
import { UNRESTRICTED } from '../../src/setup/clients.ts';

export const PATIENCE = { settling: 10_000, ending: new AbortController().signal };

/** Valid for one year up to that time. */
export function certificateUntil(number: string, notAfter: Date) {
  const notBefore = new Date(Date.UTC(notAfter.getUTCFullYear(), 0));
  return { number, keyId: 'aa', chain: 'chain', notBefore, notAfter };
}

export async function newClient(store: Store, restrictions: Partial<NewClient> = {}): Promise<NewClient> {
  const id = randomUUID();
  const client = { ...UNRESTRICTED, ...restrictions, id, accessKey: `AK-${id}`, secretDigest: Buffer.alloc(32, 1) };
  await store.clients.add(client, new Date());
  return client;
}

/** A new record of a signature with certificate 1. */
export function recordFor(clientId: string, signedAt: Date): NewRecord {
  return {
    id: randomUUID(),
    clientId,
    certificate: '1',
    algorithm: 'SHA256',
    digest: Buffer.alloc(32, 2),
    extra: { hostname: 'a\u0000b' },
    signature: Buffer.from([1, 2, 3]),
    signedAt,
  };
}

/** How many signatures are counted for a client. */
export async function countedFor(store: Store, { accessKey }: Pick<Client, 'accessKey'>): Promise<number> {
  return (await store.clients.findByAccessKey(accessKey))?.signatures ?? expect.unreachable();
}
