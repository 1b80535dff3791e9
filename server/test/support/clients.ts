import { watchCredentials } from '../../../test/support/credential-watch.ts';
import type { NewClient } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';
import { UNRESTRICTED } from '../../src/setup/clients.ts';
import { newCredentials } from '../../src/setup/credentials.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: string;
}

export async function addClient(store: Pick<Store, 'clients'>, restrictions: Partial<NewClient> = {}) {
  const { accessSecret, ...credentials } = newCredentials('AK');
  const client = { ...UNRESTRICTED, ...credentials, ...restrictions };
  watchCredentials({ accessKey: client.accessKey, accessSecret });
  await store.clients.add(client, new Date());
  return { ...client, accessSecret };
}
