/**
 * What every call asks of PostgreSQL, each in one prepared statement and one round trip. It holds to the same order of
 * locks as counting.ts, which does what is rare: near the end of a quota, and after leases that expired.
 */

import type { Selectable } from 'kysely';
import type { Pool } from 'pg';
import type { Step } from './counting.ts';
import { toCertificate, toClient, toRecordRow } from './rows.ts';
import type { Client, StoredCertificate } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * The clients' rows are locked in the order of their ids, then changed. Each of the clients gets all the places that its
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
export async function takeSteps(pool: Pool, steps: readonly Step[]): Promise<readonly (boolean | undefined)[]> {
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
