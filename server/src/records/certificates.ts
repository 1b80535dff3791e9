import type { Kysely } from 'kysely';
import type { Batches } from './batches.ts';
import { type IssuedCertificate, type StoredCertificate, type Tables, toCertificate } from './rows.ts';

export function certificatesOf(database: Kysely<Tables>, byNumber: Batches<string, StoredCertificate | undefined>) {
  return {
    async list(): Promise<readonly StoredCertificate[]> {
      const rows = await database.selectFrom('certificates').selectAll().orderBy('created_at').execute();
      return rows.map(toCertificate);
    },
    find: byNumber.add,
    /** @returns false if the certificate number is already in use */
    async add(certificate: IssuedCertificate, at: Date): Promise<boolean> {
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
    /** Replaces the certificate of a key. @returns false if no certificate has this number and key */
    async renew(certificate: IssuedCertificate): Promise<boolean> {
      const { numUpdatedRows } = await database
        .updateTable('certificates')
        .set(certified(certificate))
        .where('number', '=', certificate.number)
        .where('key_id', '=', certificate.keyId)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    /** Disables a certificate, or enables it until a given time. @returns false if the number does not exist */
    async disable(number: string, disabled: boolean, enabledUntil?: Date): Promise<boolean> {
      const { numUpdatedRows } = await database
        .updateTable('certificates')
        .set({ disabled: disabled ? 1 : 0, enabled_until: enabledUntil?.toISOString() ?? null })
        .where('number', '=', number)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  };
}

function certified({ chain, notBefore, notAfter }: IssuedCertificate) {
  return { chain, not_before: notBefore.toISOString(), not_after: notAfter.toISOString() };
}

export function certificateRequestsOf(database: Kysely<Tables>) {
  return {
    find: (number: string) =>
      database
        .selectFrom('certificate_requests')
        .select(['number', 'key_id as keyId', 'request'])
        .where('number', '=', number)
        .executeTakeFirst(),
    /** Keeps an existing certificate request for the number. */
    async add(
      { number, keyId, request }: { readonly number: string; readonly keyId: string; readonly request: string },
      at: Date,
    ): Promise<void> {
      await database
        .insertInto('certificate_requests')
        .values({ number, key_id: keyId, request, created_at: at.toISOString() })
        .onConflict((conflict) => conflict.column('number').doNothing())
        .execute();
    },
    async remove(number: string): Promise<void> {
      await database.deleteFrom('certificate_requests').where('number', '=', number).execute();
    },
  };
}

export function authorityOf(database: Kysely<Tables>) {
  const purpose = 'code-signing';
  const get = () =>
    database
      .selectFrom('authorities')
      .select(['key_id as keyId', 'certificate'])
      .where('purpose', '=', purpose)
      .executeTakeFirst();
  return {
    get,
    /** Keeps an existing authority, which another server may have stored. @param certificate PEM */
    async add({ keyId, certificate }: { readonly keyId: string; readonly certificate: string }): Promise<void> {
      await database
        .insertInto('authorities')
        .values({ purpose, key_id: keyId, certificate })
        .onConflict((conflict) => conflict.column('purpose').doNothing())
        .execute();
    },
  };
}
