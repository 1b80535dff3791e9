import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { ServerError } from '../errors.ts';
import { authorityOf } from './certificates.ts';
import type { Tables } from './rows.ts';

/**
 * `use` changes no table. `update` updates tables that an older version created. `create` also creates missing tables.
 */
export type TableRights = 'use' | 'update' | 'create';

export type PrepareTables = (database: Kysely<Tables>) => Promise<void>;

/**
 * Rejects a database of another program, of another data folder or of a newer version.
 * @param authority certificate of the data folder's authority (PEM); undefined while the folder is being created
 */
export function prepareTables(rights: TableRights, authority?: string, migrations = MIGRATIONS): PrepareTables {
  return async (database) => {
    const { tables, applied } = await examine(database);
    const another = (reason: string) => new ServerError('database-of-another', { reason });
    if (applied.length === 0 && rights !== 'create') throw another("the server's tables are missing");
    if (tables.length > 0 && !applied.includes(FIRST)) throw another('another program created tables in the database');
    const newer = applied.find((name) => !(name in migrations));
    if (newer !== undefined) throw new ServerError('database-newer', { migration: newer });
    if (authority !== undefined && (await authorityOf(database).get())?.certificate !== authority) {
      throw another('the code-signing authorities of the database and the data folder differ');
    }
    if (rights !== 'use') return await migrate(database, migrations);
    if (Object.keys(migrations).some((name) => !applied.includes(name))) throw new ServerError('database-older');
  };
}

async function examine(database: Kysely<Tables>) {
  // The tables are read before the migrations, because another server may create both between the two queries.
  const all = await database.introspection.getTables({ withInternalKyselyTables: true });
  const isMigrated = all.some(({ name }) => name === 'kysely_migration');
  const { rows } = isMigrated
    ? await sql<{ name: string }>`select name from kysely_migration order by name`.execute(database)
    : { rows: [] };
  const tables = all.filter(
    ({ name, schema = 'public', isView }) => schema === 'public' && !isView && !name.startsWith('kysely_'),
  );
  return { tables, applied: rows.map(({ name }) => name) };
}

async function migrate(database: Kysely<Tables>, migrations: typeof MIGRATIONS): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

const FIRST = '0001-first';

/**
 * Migrations are applied in the order of their names. Never change a published migration, because existing databases have
 * already applied it.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  [FIRST]: tables(
    `create table clients (
      id text primary key, access_key text not null unique, secret_digest text not null, name text,
      previous_digest text, previous_until text, expires_at text, certificates text, algorithms text,
      quota integer, monthly_quota integer, signatures integer default 0 not null,
      disabled integer default 0 not null, created_at text not null
    )`,
    `create table client_months (
      client_id text not null references clients (id), month text not null, signatures integer not null,
      primary key (client_id, month)
    )`,
    `create table viewers (
      id text primary key, access_key text not null unique, secret_digest text not null, name text,
      expires_at text, created_at text not null
    )`,
    `create table certificates (
      number text primary key, key_id text not null, chain text not null, not_before text not null,
      not_after text not null, disabled integer default 0 not null, enabled_until text, created_at text not null
    )`,
    `create table certificate_requests (
      number text primary key, key_id text not null, request text not null, created_at text not null
    )`,
    'create table authorities (purpose text primary key, key_id text not null, certificate text not null)',
    `create table records (
      id text primary key, client_id text not null references clients (id),
      certificate text not null references certificates (number), algorithm text not null, digest text not null,
      extra text, signature text, signed_at text not null, month text not null,
      counted integer default 1 not null, report_status integer, reported_at text
    )`,
    `create table operations (
      id text primary key, at text not null, operator text not null, host text not null, command text not null,
      target text, details text not null
    )`,
  ),
};

function tables(...statements: readonly string[]): Migration {
  return {
    async up(database) {
      for (const text of statements) await sql.raw(text).execute(database); // SQLite accepts one statement at a time
      await database.schema.createIndex('records_by_time').on('records').columns(['signed_at', 'id']).execute();
      await database.schema.createIndex('operations_by_time').on('operations').columns(['at', 'id']).execute();
    },
  };
}
