/** Clients for tests with several servers, added to their database. */

import { randomUUID } from 'node:crypto';
import { digestOfSecret } from '../../src/http/auth.ts';
import type { Store } from '../../src/records/store.ts';
import { UNRESTRICTED } from '../../src/setup/clients.ts';
import type { Credentials } from './in-process.ts';

/** Adds a client without restrictions. @returns its credentials and id */
export async function addClient(
  store: Store,
  { name, quota }: { readonly name: string; readonly quota: number | undefined },
): Promise<Credentials> {
  const id = randomUUID();
  const credentials = { accessKey: `AK-${id}`, accessSecret: `secret-${id}`, clientId: id };
  const secretDigest = digestOfSecret(Buffer.from(credentials.accessSecret));
  await store.clients.add(
    { ...UNRESTRICTED, id, accessKey: credentials.accessKey, secretDigest, quota, name },
    new Date(),
  );
  return credentials;
}
