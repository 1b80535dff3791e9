import { type Kysely, type RawBuilder, sql, type Updateable } from 'kysely';
import type { Batches } from './batches.ts';
import {
  type Client,
  type ClientRow,
  fromList,
  hex,
  isStorable,
  type NewClient,
  type Syntax,
  type Tables,
  toClient,
  toViewer,
  type Viewer,
} from './rows.ts';

export function clientColumns({ month }: Syntax): RawBuilder<unknown> {
  return sql`clients.*, coalesce(
    (select signatures from client_months where client_id = clients.id and month = ${month}), 0) as month_signatures`;
}

export function clientsOf(database: Kysely<Tables>, syntax: Syntax, byAccessKey: Batches<string, Client | undefined>) {
  return {
    async list(): Promise<readonly Client[]> {
      const all = sql<ClientRow>`select ${clientColumns(syntax)} from clients order by created_at`;
      return (await all.execute(database)).rows.map(toClient);
    },
    findByAccessKey: byAccessKey.add,
    async add(client: NewClient, at: Date): Promise<void> {
      await database
        .insertInto('clients')
        .values({
          ...rowOf(client, at),
          certificates: fromList(client.certificates),
          algorithms: fromList(client.algorithms),
          quota: client.quota ?? null,
          monthly_quota: client.monthlyQuota ?? null,
        })
        .execute();
    },
    async rotate(accessKey: string, secretDigest: Uint8Array, keepOld: Date | undefined): Promise<void> {
      await database
        .updateTable('clients')
        .set(({ ref }) => ({
          previous_digest: keepOld === undefined ? null : ref('secret_digest'),
          previous_until: keepOld?.toISOString() ?? null,
          secret_digest: hex(secretDigest),
        }))
        .where('access_key', '=', accessKey)
        .execute();
    },
    async change(
      accessKey: string,
      change: Partial<Omit<NewClient, 'id' | 'accessKey' | 'secretDigest'> & Pick<Client, 'disabled'>>,
    ): Promise<void> {
      const row: Updateable<Tables['clients']> = {
        ...('name' in change && { name: change.name ?? null }),
        ...('disabled' in change && { disabled: change.disabled ? 1 : 0 }),
        ...('quota' in change && { quota: change.quota ?? null }),
        ...('monthlyQuota' in change && { monthly_quota: change.monthlyQuota ?? null }),
        ...('expiresAt' in change && { expires_at: change.expiresAt?.toISOString() ?? null }),
        ...('certificates' in change && { certificates: fromList(change.certificates) }),
        ...('algorithms' in change && { algorithms: fromList(change.algorithms) }),
      };
      await database.updateTable('clients').set(row).where('access_key', '=', accessKey).execute();
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
      const [row] = await database.selectFrom('viewers').selectAll().where('access_key', '=', accessKey).execute();
      return row && toViewer(row);
    },
    async add(viewer: Omit<Viewer, 'createdAt'>, at: Date): Promise<void> {
      await database.insertInto('viewers').values(rowOf(viewer, at)).execute();
    },
    async remove(accessKey: string): Promise<void> {
      await database.deleteFrom('viewers').where('access_key', '=', accessKey).execute();
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
