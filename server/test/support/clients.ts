import { randomUUID } from 'node:crypto';
import { watchCredentials } from '../../../test/support/credential-watch.ts';
import { digestOfSecret } from '../../src/http/auth.ts';
import type { NewClient } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';
import { UNRESTRICTED } from '../../src/setup/clients.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: string;
}

export async function addClient(
  store: Pick<Store, 'clients'>,
  restrictions: Partial<NewClient> = {},
  accessSecret = `secret-${randomUUID()}`,
) {
  const id = randomUUID();
  const accessKey = `AK-${id}`;
  watchCredentials({ accessKey, accessSecret });
  const secretDigest = digestOfSecret(Buffer.from(accessSecret));
  const client = { ...UNRESTRICTED, id, accessKey, secretDigest, ...restrictions };
  await store.clients.add(client, new Date());
  return { ...client, accessSecret };
}
