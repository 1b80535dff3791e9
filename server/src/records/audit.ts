import type { Kysely } from 'kysely';
import { newRecordId, type Period } from './records.ts';
import type { Tables } from './rows.ts';

export interface Operation {
  readonly at: Date;
  readonly operator: string;
  readonly host: string;
  readonly command: string;
  readonly target?: string;
  readonly details: string;
}

export const AUDIT_COLUMNS = ['at', 'operator', 'host', 'command', 'target', 'details'] as const;

/** Each entry is stored in the same transaction as the change, and is never removed. */
export function auditOf(database: Kysely<Tables>) {
  return {
    async add({ at, target, ...operation }: Operation): Promise<void> {
      const row = { id: newRecordId(at), at: at.toISOString(), target: target ?? null, ...operation };
      await database.insertInto('operations').values(row).execute();
    },
    /** Returns entries from the oldest to the latest. @param latest limit on the number of returned entries */
    async list({ since, until }: Period, latest?: number) {
      let query = database.selectFrom('operations').select(AUDIT_COLUMNS).orderBy('at', 'desc').orderBy('id', 'desc');
      if (since !== undefined) query = query.where('at', '>=', since.toISOString());
      if (until !== undefined) query = query.where('at', '<', until.toISOString());
      if (latest !== undefined) query = query.limit(latest);
      return (await query.execute()).reverse();
    },
  };
}
