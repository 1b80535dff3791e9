/** A PostgreSQL database, for several servers that count together. */

import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, type Selectable } from 'kysely';
import type { Pool } from 'pg';
import { reasonOf, ServerError } from '../errors.ts';
import { postgresRows, takeSteps } from './counting.ts';
import { type Shared, storeOver } from './kysely-store.ts';
import { migrate } from './migrations.ts';
import type { Step } from './quota.ts';
import { byKey, type Tables, toCertificate, toClient, toRecordRow } from './rows.ts';
import type { Store } from './store.ts';

/** How many connections one server opens at most. */
const CONNECTIONS = 10;
/** A database that takes longer counts as not answering. Milliseconds. */
const PATIENCE = 10_000;

/**
 * Connects, and brings the tables up to date.
 * @param url `postgres://…`; what it lacks comes from the variables of PostgreSQL's own tools (PGPASSWORD, PGSSLMODE, …)
 * @throws `database-unusable`
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: PATIENCE,
    statement_timeout: PATIENCE,
    query_timeout: 2 * PATIENCE, // where no answer comes at all
    application_name: 'codesign-remote-server',
    // Each table is asked by an index. A plan made while one was empty would scan it for as long as the connection lives,
    // and the leases, which come and go, fill it with dead rows faster than PostgreSQL cleans up. No statement here is long
    // enough for compiling it to pay.
    options: '-c enable_seqscan=off -c jit=off',
  });
  // The query under way fails when its connection breaks, and the pool opens another one for the next query. Without these
  // listeners the error events would end the process: the pool's is for idle connections, the other for those in use.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const isAnswer = (error: unknown) => error instanceof pg.DatabaseError;
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: closingBroken(pool, isAnswer) }) });
  try {
    await migrate(database); // several servers at once: kysely locks the migrations, and makes them in one transaction
  } catch (error) {
    await database.destroy();
    throw new ServerError('database-unusable', { reason: reasonOf(error) }, error);
  }
  const shared: Shared = {
    async findClients(accessKeys) {
      const text = 'select * from clients where access_key = any($1)';
      const rows = await find<Selectable<Tables['clients']>>(pool, 'find-clients', text, accessKeys);
      return byKey(accessKeys, rows, (row) => row.access_key, toClient);
    },
    async findCertificates(numbers) {
      const text = 'select * from certificates where number = any($1)';
      const rows = await find<Selectable<Tables['certificates']>>(pool, 'find-certificates', text, numbers);
      return byKey(numbers, rows, (row) => row.number, toCertificate);
    },
    takeSteps: (steps) => takeSteps(database, postgresRows, steps),
    takeMostSteps: (steps) => takeMostSteps(pool, steps),
  };
  return storeOver(database, shared, () => database.destroy());
}

/**
 * The pool as Kysely uses it. After an error that is not the database's own answer (a time-out, a broken connection) a
 * statement may still run and a transaction may still be open. Such a connection is closed: its next user would work
 * inside that transaction, which nothing commits.
 */
function closingBroken(pool: Pool, isAnswer: (error: unknown) => boolean): PostgresPool {
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let broken = false;
      const query = async (sql: string, parameters: readonly unknown[]) => {
        try {
          return await client.query(sql, [...parameters]);
        } catch (error) {
          broken ||= !isAnswer(error);
          throw error;
        }
      };
      const release = () => client.release(broken);
      return { query, release } as unknown as PostgresPoolClient; // Kysely's other form of query is for cursors
    },
  };
}

/** A prepared statement over different keys. */
async function find<Row extends object>(
  pool: Pool,
  name: string,
  text: string,
  keys: readonly string[],
): Promise<readonly Row[]> {
  return (await pool.query<Row>({ name, text, values: [[...new Set(keys)]] })).rows;
}

/**
 * What most calls need, as one prepared statement and one round trip. It takes locks in the same order as counting.ts,
 * which does what is rare: near the end of a quota, and after leases that expired. The clients' rows are locked in the order of their ids, then changed. Each of the clients gets all the places that its
 * steps reserve, or none. Materialized parts are computed once: what is joined to a row that changed meanwhile must not
 * be computed again (PostgreSQL's documentation, section 13.2.1).
 */
const TAKE_STEPS = `
  with steps as (
    select * from json_to_recordset($1) as step (
      lease text, client text, now text, expires_at text,
      id text, client_id text, certificate text, algorithm text, digest text, extra text, signature text, signed_at text
    )
  ), asked as (
    select client, count(now)::int as reserving, max(now) as now from steps group by client
  ), locked as materialized (
    select id, quota, signatures + reserved as used from clients
    where id in (select client from asked) order by id for update
  ), removed as (
    delete from leases using steps, locked
    where leases.id = steps.lease and steps.signed_at is not null and locked.id = steps.client
    returning leases.id, leases.client_id
  ), places as materialized (
    select
      locked.id,
      asked.reserving,
      locked.quota is null or locked.used + asked.reserving <= locked.quota as enough,
      locked.used >= locked.quota and not exists (
        select from leases where leases.client_id = locked.id and leases.expires_at <= asked.now
      ) as used_up,
      coalesce(counted.signatures, 0)::int as counted
    from locked
    join asked on asked.client = locked.id
    left join (select client_id, count(*) as signatures from removed group by client_id) as counted
      on counted.client_id = locked.id
  ), changed as (
    update clients set
      signatures = clients.signatures + places.counted,
      reserved = clients.reserved - places.counted + case when places.enough then places.reserving else 0 end
    from places
    where clients.id = places.id and (places.counted > 0 or (places.enough and places.reserving > 0))
  ), kept as (
    insert into leases (id, client_id, expires_at)
    select steps.lease, steps.client, steps.expires_at
    from steps join places on places.id = steps.client
    where steps.now is not null and places.enough
  ), stored as (
    insert into records (id, client_id, certificate, algorithm, digest, extra, signature, signed_at)
    select steps.id, steps.client_id, steps.certificate, steps.algorithm, steps.digest, steps.extra, steps.signature, steps.signed_at
    from steps join removed on removed.id = steps.lease
    where steps.signed_at is not null
  )
  select steps.lease, case
    when steps.signed_at is not null then case when removed.id is not null then true end
    when places.enough then true
    when places.used_up then false
  end as place
  from steps
  left join places on places.id = steps.client
  left join removed on removed.id = steps.lease`;

/**
 * Takes steps in one statement: all that it can or, where it rejects, none.
 * @returns for each whether there was a place for it; undefined: not done yet, since it takes more than one statement
 */
async function takeMostSteps(pool: Pool, steps: readonly Step[]): Promise<readonly (boolean | undefined)[]> {
  const rows = steps.map((step) => ({
    ...{ lease: step.lease.id, client: step.lease.clientId },
    ...('record' in step
      ? toRecordRow(step.record)
      : { now: step.now.toISOString(), expires_at: step.lease.expiresAt.toISOString() }),
  }));
  const taken = await pool.query<{ readonly lease: string; readonly place: boolean | null }>({
    name: 'take-steps',
    text: TAKE_STEPS,
    values: [JSON.stringify(rows)],
  });
  const places = new Map(taken.rows.map(({ lease, place }) => [lease, place ?? undefined]));
  return steps.map(({ lease }) => places.get(lease.id));
}
