/**
 * What every call asks of PostgreSQL, each in one prepared statement and one round trip. It holds to the same order of
 * locks as counting.ts, which does what is rare: near the end of a quota, and after leases that expired.
 */

import type { Kysely, Selectable } from 'kysely';
import type { Pool } from 'pg';
import { type Step, takeSteps as takeStepsInTurn } from './counting.ts';
import { postgresRows } from './json-rows.ts';
import { toCertificate, toClient, toRecordRow } from './rows.ts';
import type { Client, StoredCertificate } from './store.ts';
import type { Tables } from './tables.ts';

/** What the statement below makes of steps that are none of the usual: then none of it is done. */
const DIVISION_BY_ZERO = '22012';

/** The clients' rows are locked in the order of their ids, then changed; the rest waits for that, by asking how many were. */
const TAKE_STEPS = `
  with steps as (
    select * from json_to_recordset($1) as step (
      lease text, client text, expires_at text,
      id text, client_id text, certificate text, algorithm text, digest text, extra text, signature text, signed_at text
    )
  ), asked as (
    select client, count(expires_at)::int as reserving, count(signed_at)::int as counting from steps group by client
  ), locked as (
    select id from clients where id in (select client from asked) order by id for update
  ), changed as (
    update clients set
      signatures = clients.signatures + asked.counting,
      reserved = clients.reserved + asked.reserving - asked.counting
    from asked, locked
    where clients.id = asked.client and clients.id = locked.id and (
      asked.reserving = 0 or clients.quota is null
      or clients.signatures + clients.reserved + asked.reserving <= clients.quota
    )
    returning clients.id
  ), enough as (
    select (select count(*) from changed) = (select count(*) from asked) as places
  ), removed as (
    delete from leases using steps
    where leases.id = steps.lease and steps.signed_at is not null and (select places from enough)
    returning leases.id
  ), kept as (
    insert into leases (id, client_id, expires_at)
    select lease, client, expires_at from steps where expires_at is not null and (select places from enough)
  ), stored as (
    insert into records (id, client_id, certificate, algorithm, digest, extra, signature, signed_at)
    select id, client_id, certificate, algorithm, digest, extra, signature, signed_at
    from steps where signed_at is not null and (select places from enough)
  )
  select 1 / (
    (select places from enough) and (select count(*) from removed) = (select count(signed_at) from steps)
  )::int`;

/** All of the steps or, where it rejects, none. @returns for each whether there was a place for it */
export async function takeSteps(
  pool: Pool,
  database: Kysely<Tables>,
  steps: readonly Step[],
): Promise<readonly boolean[]> {
  const rows = steps.map((step) => ({
    ...{ lease: step.lease.id, client: step.lease.clientId },
    ...('record' in step ? toRecordRow(step.record) : { expires_at: step.lease.expiresAt.toISOString() }),
  }));
  try {
    await pool.query({ name: 'take-steps', text: TAKE_STEPS, values: [JSON.stringify(rows)] });
    return steps.map(() => true);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === DIVISION_BY_ZERO)) throw error;
    return await takeStepsInTurn(database, postgresRows, steps);
  }
}

/** What each of these access keys stands for. */
export async function findClients(pool: Pool, accessKeys: readonly string[]): Promise<readonly (Client | undefined)[]> {
  const { rows } = await pool.query<Selectable<Tables['clients']>>({
    name: 'find-clients',
    text: 'select * from clients where access_key = any($1)',
    values: [[...new Set(accessKeys)]],
  });
  const found = new Map(rows.map((row) => [row.access_key, toClient(row)]));
  return accessKeys.map((accessKey) => found.get(accessKey));
}

/** The certificate with each of these numbers. */
export async function findCertificates(
  pool: Pool,
  numbers: readonly string[],
): Promise<readonly (StoredCertificate | undefined)[]> {
  const { rows } = await pool.query<Selectable<Tables['certificates']>>({
    name: 'find-certificates',
    text: 'select * from certificates where number = any($1)',
    values: [[...new Set(numbers)]],
  });
  const found = new Map(rows.map((row) => [row.number, toCertificate(row)]));
  return numbers.map((number) => found.get(number));
}
