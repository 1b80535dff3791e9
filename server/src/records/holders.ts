import type { Kysely, Updateable } from 'kysely';
import type { Batches } from './batches.ts';
import {
  type Client,
  fromList,
  hex,
  isStorable,
  type NewClient,
  type Tables,
  toClient,
  toViewer,
  type Viewer,
} from './rows.ts';

export function clientsOf(database: Kysely<Tables>, byAccessKey: Batches<string, Client | undefined>) {
  return {
    async list(): Promise<readonly Client[]> {
      const rows = await database.selectFrom('clients').selectAll().orderBy('created_at').execute();
      return rows.map(toClient);
    },
    async findByAccessKey(accessKey: string): Promise<Client | undefined> {
      return isStorable(accessKey) ? await byAccessKey.add(accessKey) : undefined;
    },
    async add(client: NewClient, at: Date): Promise<void> {
      await database
        .insertInto('clients')
        .values({
          ...rowOf(client, at),
          certificates: fromList(client.certificates),
          algorithms: fromList(client.algorithms),
          quota: client.quota ?? null,
        })
        .execute();
    },
    /** Changes what an operator may change. @returns false if the client does not exist */
    async change(accessKey: string, change: Partial<Omit<NewClient, 'id' | 'accessKey'> & Pick<Client, 'disabled'>>) {
      const row: Updateable<Tables['clients']> = {
        ...(change.secretDigest && { secret_digest: hex(change.secretDigest) }),
        ...('name' in change && { name: change.name ?? null }),
        ...('disabled' in change && { disabled: change.disabled ? 1 : 0 }),
        ...('quota' in change && { quota: change.quota ?? null }),
        ...('expiresAt' in change && { expires_at: change.expiresAt?.toISOString() ?? null }),
        ...('certificates' in change && { certificates: fromList(change.certificates) }),
        ...('algorithms' in change && { algorithms: fromList(change.algorithms) }),
      };
      const { numUpdatedRows } = await database
        .updateTable('clients')
        .set(row)
        .where('access_key', '=', accessKey)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  };
}

export function viewersOf(database: Kysely<Tables>) {
  return {
    async list(): Promise<readonly Viewer[]> {
      const rows = await database.selectFrom('viewers').selectAll().orderBy('created_at').execute();
      return rows.map(toViewer);
    },
    async findByAccessKey(accessKey: string): Promise<Viewer | undefined> {
      if (!isStorable(accessKey)) return undefined;
      const row = await database
        .selectFrom('viewers')
        .selectAll()
        .where('access_key', '=', accessKey)
        .executeTakeFirst();
      return row && toViewer(row);
    },
    async add(viewer: Omit<Viewer, 'createdAt'>, at: Date): Promise<void> {
      await database.insertInto('viewers').values(rowOf(viewer, at)).execute();
    },
    /** @returns false if the viewer does not exist */
    async remove(accessKey: string): Promise<boolean> {
      if (!isStorable(accessKey)) return false;
      const { numDeletedRows } = await database
        .deleteFrom('viewers')
        .where('access_key', '=', accessKey)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}

function rowOf({ id, accessKey, secretDigest, name, expiresAt }: Omit<Viewer, 'createdAt'>, at: Date) {
  return {
    id,
    access_key: accessKey,
    secret_digest: hex(secretDigest),
    name: name ?? null,
    expires_at: expiresAt?.toISOString() ?? null,
    created_at: at.toISOString(),
  };
}
