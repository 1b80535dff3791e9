/** The store's certificates, requests for them, and authorities over kysely. */

import type { Kysely } from 'kysely';
import type { Batches } from './batches.ts';
import { isStorable, toCertificate } from './rows.ts';
import type { IssuedCertificate, Store, StoredCertificate } from './store.ts';
import type { Tables } from './tables.ts';

const CODE_SIGNING = 'code-signing';
const TIME_STAMPING = 'time-stamping';

/** The certificate with each of these numbers. */
export async function findCertificates(
  database: Kysely<Tables>,
  numbers: readonly string[],
): Promise<readonly (StoredCertificate | undefined)[]> {
  const asked = [...new Set(numbers)];
  const rows = await database.selectFrom('certificates').selectAll().where('number', 'in', asked).execute();
  const found = new Map(rows.map((row) => [row.number, toCertificate(row)]));
  return numbers.map((number) => found.get(number));
}

/** @param byNumber finds certificates for calls at once together */
export function certificatesOf(
  database: Kysely<Tables>,
  byNumber: Batches<string, StoredCertificate | undefined>,
): Store['certificates'] {
  return {
    async list() {
      const rows = await database.selectFrom('certificates').selectAll().orderBy('created_at').execute();
      return rows.map(toCertificate);
    },
    async find(number) {
      return isStorable(number) ? await byNumber.add(number) : undefined;
    },
    async add(certificate, at) {
      const { numInsertedOrUpdatedRows } = await database
        .insertInto('certificates')
        .values({
          number: certificate.number,
          key_id: certificate.keyId,
          ...certified(certificate),
          created_at: at.toISOString(),
        })
        .onConflict((conflict) => conflict.column('number').doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },
    async renew(certificate) {
      const { numUpdatedRows } = await database
        .updateTable('certificates')
        .set(certified(certificate))
        .where('number', '=', certificate.number)
        .where('key_id', '=', certificate.keyId)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    async disable(number, disabled) {
      if (!isStorable(number)) return false;
      const { numUpdatedRows } = await database
        .updateTable('certificates')
        .set({ disabled: disabled ? 1 : 0 })
        .where('number', '=', number)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  };
}

function certified({ chain, notBefore, notAfter }: IssuedCertificate) {
  return { chain, not_before: notBefore.toISOString(), not_after: notAfter.toISOString() };
}

export function certificateRequestsOf(database: Kysely<Tables>): Store['certificateRequests'] {
  const all = () => database.selectFrom('certificate_requests').select(['number', 'key_id as keyId', 'request']);
  return {
    list: () => all().orderBy('created_at').execute(),
    find: (number) => all().where('number', '=', number).executeTakeFirst(),
    async add({ number, keyId, request }, at) {
      const { numInsertedOrUpdatedRows } = await database
        .insertInto('certificate_requests')
        .values({ number, key_id: keyId, request, created_at: at.toISOString() })
        .onConflict((conflict) => conflict.column('number').doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },
    async remove(number) {
      await database.deleteFrom('certificate_requests').where('number', '=', number).execute();
    },
  };
}

export function authorityOf(database: Kysely<Tables>): Store['authority'] {
  const get = async () => {
    const row = await findAuthority(database, CODE_SIGNING);
    return row && { keyId: row.key_id, certificate: row.certificate };
  };
  return {
    get,
    async set(authority) {
      await database
        .insertInto('authorities')
        .values({ purpose: CODE_SIGNING, key_id: authority.keyId, certificate: authority.certificate })
        .onConflict((conflict) => conflict.column('purpose').doNothing())
        .execute();
      return (await get()) ?? authority;
    },
  };
}

export function timestampAuthorityOf(database: Kysely<Tables>): Store['timestampAuthority'] {
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
