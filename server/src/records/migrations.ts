import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import type { Tables } from './rows.ts';

/** Updates the tables to the newest version. */
export async function migrate(database: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** In the order of their names. A published migration never changes. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': statements(
    `create table clients (
      id text primary key,
      access_key text not null unique,
      secret_digest text not null,
      name text,
      certificates text,
      algorithms text,
      quota integer,
      signatures integer default 0 not null,
      expires_at text,
      disabled integer default 0 not null,
      created_at text not null
    )`,
    `create table viewers (
      id text primary key,
      access_key text not null unique,
      secret_digest text not null,
      name text,
      expires_at text,
      created_at text not null
    )`,
    `create table certificates (
      number text primary key,
      key_id text not null,
      chain text not null,
      not_before text not null,
      not_after text not null,
      disabled integer default 0 not null,
      created_at text not null
    )`,
    `create table certificate_requests (
      number text primary key,
      key_id text not null,
      request text not null,
      created_at text not null
    )`,
    'create table authorities (purpose text primary key, key_id text not null, certificate text not null)',
    `create table records (
      id text primary key,
      client_id text not null references clients (id),
      certificate text not null references certificates (number),
      algorithm text not null,
      digest text not null,
      extra text,
      signature text,
      signed_at text not null,
      counted integer default 1 not null,
      report_status integer,
      reported_at text
    )`,
    'create index records_by_time on records (signed_at, id)',
  ),
};

function statements(...texts: readonly string[]): Migration {
  return {
    async up(database) {
      for (const text of texts) await sql.raw(text).execute(database); // SQLite takes one statement at a time
    },
  };
}
