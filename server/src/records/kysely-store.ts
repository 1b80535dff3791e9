/** The store over any database that kysely speaks to. */

import { type Kysely, Migrator, type Selectable } from 'kysely';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Client, ReportStatus, SignatureRecord, Store, StoredCertificate } from './store.ts';
import { MIGRATIONS, type Tables } from './tables.ts';

const CODE_SIGNING = 'code-signing';
const TIME_STAMPING = 'time-stamping';

/** Brings the database to the newest shape of its tables, then serves it. */
export async function openStore(database: Kysely<Tables>): Promise<Store> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return {
    clients: clientsOf(database),
    certificates: certificatesOf(database),
    authority: authorityOf(database),
    timestampAuthority: timestampAuthorityOf(database),
    records: recordsOf(database),
    close: () => database.destroy(),
  };
}

function clientsOf(database: Kysely<Tables>): Store['clients'] {
  return {
    async list() {
      const rows = await database.selectFrom('clients').selectAll().orderBy('created_at').execute();
      return rows.map(toClient);
    },
    async findByAccessKey(accessKey) {
      const row = await database
        .selectFrom('clients')
        .selectAll()
        .where('access_key', '=', accessKey)
        .executeTakeFirst();
      return row && toClient(row);
    },
    async addPending({ id, accessKey, secretDigest }, at) {
      await database.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('clients').where('handed_over', '=', 0).execute();
        await transaction
          .insertInto('clients')
          .values({ id, access_key: accessKey, secret_digest: hex(secretDigest), created_at: at.toISOString() })
          .execute();
      });
    },
    async markHandedOver(id) {
      const { numUpdatedRows } = await database
        .updateTable('clients')
        .set({ handed_over: 1 })
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows !== 1n) throw new Error(`there is no client ${id} to hand credentials over to`);
    },
  };
}

function certificatesOf(database: Kysely<Tables>): Store['certificates'] {
  return {
    async list() {
      const rows = await database.selectFrom('certificates').selectAll().orderBy('created_at').execute();
      return rows.map(toCertificate);
    },
    async find(number) {
      const row = await database.selectFrom('certificates').selectAll().where('number', '=', number).executeTakeFirst();
      return row && toCertificate(row);
    },
    async add({ number, keyId, chain, notBefore, notAfter }, at) {
      const { numInsertedOrUpdatedRows } = await database
        .insertInto('certificates')
        .values({
          number,
          key_id: keyId,
          chain,
          not_before: notBefore.toISOString(),
          not_after: notAfter.toISOString(),
          created_at: at.toISOString(),
        })
        .onConflict((conflict) => conflict.column('number').doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },
  };
}

function authorityOf(database: Kysely<Tables>): Store['authority'] {
  return {
    async get() {
      const row = await findAuthority(database, CODE_SIGNING);
      return row && { keyId: row.key_id, certificate: row.certificate };
    },
    async set({ keyId, certificate }) {
      await database.insertInto('authorities').values({ purpose: CODE_SIGNING, key_id: keyId, certificate }).execute();
    },
  };
}

function timestampAuthorityOf(database: Kysely<Tables>): Store['timestampAuthority'] {
  const get = async () => {
    const row = await findAuthority(database, TIME_STAMPING);
    return row && { keyId: row.key_id, chain: row.certificate };
  };
  return {
    get,
    async replace(before, authority) {
      const row = { key_id: authority.keyId, certificate: authority.chain };
      await database
        .insertInto('authorities')
        .values({ purpose: TIME_STAMPING, ...row })
        .onConflict((conflict) =>
          conflict
            .column('purpose')
            .doUpdateSet(row)
            .where('authorities.key_id', '=', before?.keyId ?? ''),
        )
        .execute();
      return (await get()) ?? authority;
    },
  };
}

async function findAuthority(database: Kysely<Tables>, purpose: string) {
  return await database.selectFrom('authorities').selectAll().where('purpose', '=', purpose).executeTakeFirst();
}

function recordsOf(database: Kysely<Tables>): Store['records'] {
  return {
    async add({ id, clientId, certificate, algorithm, digest, extra, signedAt }) {
      await database.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('records')
          .values({
            id,
            client_id: clientId,
            certificate,
            algorithm,
            digest: hex(digest),
            extra: extra === undefined ? null : JSON.stringify(extra),
            signed_at: signedAt.toISOString(),
          })
          .execute();
        await transaction
          .updateTable('clients')
          .set((expression) => ({ signatures: expression('signatures', '+', 1) }))
          .where('id', '=', clientId)
          .execute();
      });
    },
    async find(id) {
      const row = await database.selectFrom('records').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
    },
    async uncount(id) {
      await database.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('records')
          .set({ counted: 0 })
          .where('id', '=', id)
          .where('counted', '=', 1)
          .returning('client_id')
          .executeTakeFirst();
        if (row === undefined) return;
        await transaction
          .updateTable('clients')
          .set((expression) => ({ signatures: expression('signatures', '-', 1) }))
          .where('id', '=', row.client_id)
          .execute();
      });
    },
    async report(id, clientId, status, at) {
      const row = await database
        .updateTable('records')
        .set({ report_status: status, reported_at: at.toISOString() })
        .where('id', '=', id)
        .where('client_id', '=', clientId)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
  };
}

function toClient(row: Selectable<Tables['clients']>): Client {
  return {
    id: row.id,
    accessKey: row.access_key,
    secretDigest: Buffer.from(row.secret_digest, 'hex'),
    signatures: row.signatures,
    handedOver: row.handed_over === 1,
  };
}

function toCertificate(row: Selectable<Tables['certificates']>): StoredCertificate {
  return {
    number: row.number,
    keyId: row.key_id,
    chain: row.chain,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
  };
}

function toRecord(row: Selectable<Tables['records']>): SignatureRecord {
  const { report_status: status, reported_at: at } = row;
  return {
    id: row.id,
    clientId: row.client_id,
    certificate: row.certificate,
    algorithm: row.algorithm as DigestAlgorithm,
    digest: Buffer.from(row.digest, 'hex'),
    extra: row.extra === null ? undefined : JSON.parse(row.extra),
    signedAt: new Date(row.signed_at),
    counted: row.counted === 1,
    report: status === null || at === null ? undefined : { status: status as ReportStatus, at: new Date(at) },
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
