/** The database's tables as kysely sees them, and the migrations that make them; plain SQL types only, fit for SQLite and PostgreSQL. */

import type { Generated, Kysely, Migration } from 'kysely';

export interface Tables {
  clients: {
    id: string;
    access_key: string;
    /** Lower-case hexadecimal. */
    secret_digest: string;
    signatures: Generated<number>;
    /** 0 or 1. */
    handed_over: Generated<number>;
    created_at: string;
    name: string | null;
    /** JSON, a list; null: every one. */
    certificates: string | null;
    /** JSON, a list; null: every one. */
    algorithms: string | null;
    /** Null: no bound. */
    quota: number | null;
    /** As many as it has leases. */
    reserved: Generated<number>;
    expires_at: string | null;
    /** 0 or 1. */
    disabled: Generated<number>;
  };
  viewers: {
    id: string;
    access_key: string;
    /** Lower-case hexadecimal. */
    secret_digest: string;
    name: string | null;
    expires_at: string | null;
    created_at: string;
  };
  leases: { id: string; client_id: string; expires_at: string };
  certificate_requests: { number: string; key_id: string; request: string; created_at: string };
  certificates: {
    number: string;
    key_id: string;
    chain: string;
    not_before: string;
    not_after: string;
    created_at: string;
    /** 0 or 1. */
    disabled: Generated<number>;
  };
  authorities: { purpose: string; key_id: string; certificate: string };
  records: {
    id: string;
    client_id: string;
    certificate: string;
    algorithm: string;
    /** Lower-case hexadecimal. */
    digest: string;
    /** JSON, or null where the request had none. */
    extra: string | null;
    signed_at: string;
    /** 0 or 1. */
    counted: Generated<number>;
    report_status: number | null;
    reported_at: string | null;
    /** Base64, or null in records of the first release. */
    signature: string | null;
  };
}

const first: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable('clients')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('access_key', 'text', (column) => column.notNull().unique())
      .addColumn('secret_digest', 'text', (column) => column.notNull())
      .addColumn('signatures', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('handed_over', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('certificates')
      .addColumn('number', 'text', (column) => column.primaryKey())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('not_before', 'text', (column) => column.notNull())
      .addColumn('not_after', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('authorities')
      .addColumn('purpose', 'text', (column) => column.primaryKey())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('certificate', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('records')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('client_id', 'text', (column) => column.notNull().references('clients.id'))
      .addColumn('certificate', 'text', (column) => column.notNull().references('certificates.number'))
      .addColumn('algorithm', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('extra', 'text')
      .addColumn('signed_at', 'text', (column) => column.notNull())
      .addColumn('counted', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('report_status', 'integer')
      .addColumn('reported_at', 'text')
      .execute();
  },
};

const quota: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    // One statement for each column: SQLite knows no other way.
    const clients = () => schema.alterTable('clients');
    await clients().addColumn('name', 'text').execute();
    await clients().addColumn('certificates', 'text').execute();
    await clients().addColumn('algorithms', 'text').execute();
    await clients().addColumn('quota', 'integer').execute();
    await clients()
      .addColumn('reserved', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await clients().addColumn('expires_at', 'text').execute();
    await clients()
      .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.alterTable('records').addColumn('signature', 'text').execute();
    await schema.createIndex('records_in_order').on('records').columns(['signed_at', 'id']).execute();
    await schema
      .createTable('leases')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('client_id', 'text', (column) => column.notNull().references('clients.id'))
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('certificate_requests')
      .addColumn('number', 'text', (column) => column.primaryKey())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('request', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
  },
};

const page: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable('viewers')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('access_key', 'text', (column) => column.notNull().unique())
      .addColumn('secret_digest', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('expires_at', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
    // In the place of the one before, so that signing keeps no more indexes than it did: days are counted in it alone.
    await schema
      .createIndex('records_by_time')
      .on('records')
      .columns(['signed_at', 'id', 'counted', 'report_status'])
      .execute();
    await schema.dropIndex('records_in_order').execute();
  },
};

const leases: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema.createIndex('leases_by_client').on('leases').columns(['client_id', 'expires_at']).execute();
  },
};

const administration: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .alterTable('certificates')
      .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};

/** In the order of their names; a migration that was released never changes. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-quota': quota,
  '0003-page': page,
  '0004-leases': leases,
  '0005-administration': administration,
};
