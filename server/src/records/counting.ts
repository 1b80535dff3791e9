import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { createBatches } from './batches.ts';
import { isRefusal, isRolledBack } from './database-errors.ts';
import { type NewRecord, RECORD_COLUMNS, type Syntax, type Tables, toRecordRow } from './rows.ts';

export interface Patience {
  readonly settling: number;
  readonly ending: AbortSignal;
}

interface Call extends Pick<Patience, 'ending'> {
  readonly record: NewRecord;
  /** Compared with performance.now(). */
  readonly deadline: number;
}

/** The signature may have been counted, but the client will not get it, so the count must be reverted. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  constructor(cause: unknown) {
    super('the outcome of a transaction is unknown', { cause });
  }
}

const PAUSE = 200;

/**
 * Counts signatures (API 8). One transaction counts all calls that arrived during the transaction before. If that
 * transaction fails, each call gets a separate transaction.
 */
export function createCounting(database: Kysely<Tables>, syntax: Syntax) {
  let failing = false;
  const count = async (records: readonly NewRecord[]): Promise<readonly boolean[]> => {
    try {
      const counted = await countAll(database, syntax, records);
      failing = false;
      return counted;
    } catch (error) {
      failing = true;
      throw error;
    }
  };
  const countAlone = async ({ record, ending, deadline }: Call, cause: unknown): Promise<boolean> => {
    if (performance.now() >= deadline) throw cause;
    let unknown = cause instanceof OutcomeUnknown;
    const isFinal = (error: unknown) => {
      unknown ||= error instanceof OutcomeUnknown;
      return !unknown && isRefusal(error);
    };
    try {
      return (await retry(() => count([record]), { deadline, ending, isFinal })).every(Boolean);
    } catch (error) {
      throw unknown && !(error instanceof OutcomeUnknown) ? new OutcomeUnknown(error) : error;
    }
  };
  const batches = createBatches(async (calls: readonly Call[]) => {
    try {
      return await count(calls.map(({ record }) => record));
    } catch (error) {
      // The calls of a client change the same database row, so they run one after another.
      const turns = new Map<string, Promise<unknown>>();
      return calls.map((call) => {
        const { clientId } = call.record;
        const counted = (turns.get(clientId) ?? Promise.resolve()).then(() => countAlone(call, error));
        turns.set(
          clientId,
          counted.catch(() => {}),
        );
        return counted;
      });
    }
  });
  return {
    /**
     * Stores and counts the record of a signature in one transaction.
     * @returns false if the quota, the client or the certificate does not allow the signature
     * @throws OutcomeUnknown if the signature may be counted; any other error if nothing was changed
     */
    add: (record: NewRecord, { settling, ending }: Patience) =>
      batches.add({ record, ending, deadline: performance.now() + settling }),
    /** True if the last transaction failed. A signature that is made now may have to be discarded. */
    isFailing: () => failing,
    /** Reverts the count of a signature that was not sent. A repeated call changes nothing. */
    takeBack: (record: NewRecord, { settling, ending }: Patience) =>
      retry(() => takeBack(database, syntax, record), { deadline: performance.now() + settling, ending }),
    drain: batches.drain,
  };
}

/**
 * A record may exist already, because an earlier run of this transaction counted the record and its result was lost. If
 * the earlier run has not ended, the insert waits for its end. No error is caught between BEGIN and COMMIT, because
 * PostgreSQL would then answer the COMMIT with a silent ROLLBACK.
 * @returns true for each record that is counted
 */
async function countAll(
  database: Kysely<Tables>,
  syntax: Syntax,
  records: readonly NewRecord[],
): Promise<readonly boolean[]> {
  let committing = false;
  try {
    return await database.transaction().execute(async (transaction) => {
      const inserted = await insert(transaction, syntax, records);
      // Two transactions that lock the clients' rows in the same order cannot cause a deadlock.
      const inOrder = records
        .filter(({ id }) => inserted.has(id))
        .sort((one, other) => (one.clientId < other.clientId ? -1 : Number(one.clientId > other.clientId)));
      const counted = await changing(transaction, inOrder, addOne);
      // The client's row is locked here, so no other server changes the count for the month.
      const allowed = await changing(transaction, counted, addOneToMonth);
      for (const record of counted) if (!allowed.includes(record)) await subtractOne(transaction, record.clientId);
      const refused = new Set(inOrder.filter((record) => !allowed.includes(record)).map(({ id }) => id));
      if (refused.size > 0) await remove(transaction, [...refused]);
      committing = true;
      return records.map(({ id }) => !refused.has(id));
    });
  } catch (error) {
    throw committing && !isRolledBack(error) ? new OutcomeUnknown(error) : error;
  }
}

/**
 * Sends one statement for each record. kysely would wait for the result of each statement before the next.
 * @returns the records whose statement changed a row
 */
async function changing(
  transaction: Transaction<Tables>,
  records: readonly NewRecord[],
  statementFor: (id: string) => RawBuilder<unknown>,
): Promise<readonly NewRecord[]> {
  const queries = records.map(({ id }) => statementFor(id).compile(transaction));
  const results = await transaction
    .getExecutor()
    .provideConnection((connection) => Promise.all(queries.map((query) => connection.executeQuery(query))));
  return records.filter((_record, index) => results[index]?.numAffectedRows === 1n);
}

async function insert(
  transaction: Transaction<Tables>,
  { rowsTable, month }: Syntax,
  records: readonly NewRecord[],
): Promise<ReadonlySet<string>> {
  const columns = sql.join(RECORD_COLUMNS.map((column) => sql.ref(column)));
  const given = rowsTable(records.map(toRecordRow), RECORD_COLUMNS);
  // Without `where true`, SQLite reads "on conflict" as a condition of a join.
  const { rows } = await sql<{ id: string }>`insert into records (${columns}, month)
    select ${columns}, ${month} from ${given} where true
    on conflict (id) do nothing returning id`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

async function remove(transaction: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  await transaction.deleteFrom('records').where('id', 'in', ids).execute();
}

/** The conditions were also checked before the HSM signed. */
function addOne(id: string): RawBuilder<unknown> {
  return sql`update clients set signatures = clients.signatures + 1
    from records, certificates as used
    where records.id = ${id} and clients.id = records.client_id and used.number = records.certificate
      and clients.disabled = 0 and (clients.quota is null or clients.signatures < clients.quota)
      and (clients.expires_at is null or clients.expires_at > records.signed_at)
      and (clients.certificates is null
        or replace(clients.certificates, '"' || records.certificate || '"', '') <> clients.certificates)
      and (clients.algorithms is null
        or replace(clients.algorithms, '"' || records.algorithm || '"', '') <> clients.algorithms)
      and used.disabled = 0 and (used.enabled_until is null or used.enabled_until > records.signed_at)
      and used.not_before <= records.signed_at and used.not_after >= records.signed_at`;
}

function addOneToMonth(id: string): RawBuilder<unknown> {
  return sql`insert into client_months (client_id, month, signatures)
    select clients.id, records.month, 1 from records join clients on clients.id = records.client_id
    where records.id = ${id} and (clients.monthly_quota is null or clients.monthly_quota > 0)
    on conflict (client_id, month) do update set signatures = client_months.signatures + 1
    where not exists (select * from clients
      where clients.id = client_months.client_id and client_months.signatures >= clients.monthly_quota)`;
}

async function subtractOne(transaction: Transaction<Tables>, clientId: string): Promise<void> {
  await transaction
    .updateTable('clients')
    .set((expression) => ({ signatures: expression('signatures', '-', 1) }))
    .where('id', '=', clientId)
    .execute();
}

async function takeBack(database: Kysely<Tables>, syntax: Syntax, record: NewRecord): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    // The insert waits for the end of a transaction that may still insert the same record.
    if ((await insert(transaction, syntax, [record])).has(record.id)) return await remove(transaction, [record.id]);
    const counted = await transaction
      .updateTable('records')
      .set({ counted: 0 })
      .where('id', '=', record.id)
      .where('counted', '=', 1)
      .returning('month')
      .executeTakeFirst();
    if (counted === undefined) return;
    await subtractOne(transaction, record.clientId);
    await transaction
      .updateTable('client_months')
      .set((expression) => ({ signatures: expression('signatures', '-', 1) }))
      .where('client_id', '=', record.clientId)
      .where('month', '=', counted.month)
      .execute();
  });
}

/** Retries until the deadline or the shutdown of the server. @param isFinal true for errors that a retry cannot solve */
async function retry<T>(
  work: () => Promise<T>,
  {
    deadline,
    ending,
    isFinal = () => false,
  }: { readonly deadline: number; readonly ending: AbortSignal; readonly isFinal?: (error: unknown) => boolean },
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error) || ending.aborted || performance.now() >= deadline) throw error;
      await sleep(PAUSE, undefined, { signal: ending }).catch(() => {}); // an abort only ends the wait
    }
  }
}
