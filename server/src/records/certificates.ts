/** The store's certificates, requests for them, and authorities over kysely. */

import type { Kysely } from 'kysely';
import type { Batches } from './batches.ts';
import { byKey, isStorable, type Tables, toCertificate } from './rows.ts';
import type { IssuedCertificate, Store, StoredCertificate } from './store.ts';

/** The certificate with each of these numbers. */
export async function findCertificates(
  database: Kysely<Tables>,
  numbers: readonly string[],
): Promise<readonly (StoredCertificate | undefined)[]> {
  const different = [...new Set(numbers)];
  const rows = await database.selectFrom('certificates').selectAll().where('number', 'in', different).execute();
  return byKey(numbers, rows, (row) => row.number, toCertificate);
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
  return {
    find: (number) =>
      database
        .selectFrom('certificate_requests')
        .select(['number', 'key_id as keyId', 'request'])
        .where('number', '=', number)
        .executeTakeFirst(),
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

export function authoritiesOf(database: Kysely<Tables>): Store['authorities'] {
  const get: Store['authorities']['get'] = async (purpose) => {
    const row = await database.selectFrom('authorities').selectAll().where('purpose', '=', purpose).executeTakeFirst();
    return row && { keyId: row.key_id, chain: row.certificate };
  };
  return {
    get,
    async replace(purpose, before, authority) {
      const row = { key_id: authority.keyId, certificate: authority.chain };
      const known = before?.keyId ?? '';
      await database
        .insertInto('authorities')
        .values({ purpose, ...row })
        .onConflict((conflict) => conflict.column('purpose').doUpdateSet(row).where('authorities.key_id', '=', known))
        .execute();
      return (await get(purpose)) ?? authority;
    },
  };
}
