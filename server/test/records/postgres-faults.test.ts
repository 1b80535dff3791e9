/** Counting while PostgreSQL loses connections, rolls back, finds deadlocks and restarts: each signature counts once, or is not given. */

import pg from 'pg';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { forAll } from '../../../test/support/set-up.ts';
import { OutcomeUnknown } from '../../src/records/counting.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openPostgresStore } from '../../src/records/postgres.ts';
import type { NewRecord } from '../../src/records/rows.ts';
import { addClient } from '../support/clients.ts';
import { type Fault, openCommitProxy } from '../support/commit-proxy.ts';
import { certificateUntil, countedFor, PATIENCE, recordFor } from '../support/counting-scene.ts';
import { usePostgres } from '../support/postgres.ts';

const NOW = new Date('2030-01-01T00:00:00Z');

const postgres = await usePostgres();
const url = await postgres.newDatabase();
const proxy = await forAll(openCommitProxy(url));
/** Sees what is in the database. */
const witness = await openPostgresStore(url, prepareTables('create'));
/** The server's store, whose connections pass the proxy. */
const store = await openPostgresStore(proxy.url, prepareTables('create'));
await witness.certificates.add(certificateUntil('1', new Date('2030-12-31')), NOW);
afterEach(() => {
  proxy.faults.splice(0);
});
afterAll(async () => {
  await store.close();
  await witness.close();
});

const signed = (clientId: string) => recordFor(clientId, NOW);
const add = (record: NewRecord, patience = PATIENCE) => store.counting.add(record, patience);
const isKept = async ({ id }: NewRecord) => (await witness.records.find(id))?.counted === true;

describe('a COMMIT whose outcome is unknown', () => {
  test.each<readonly [string, readonly Fault[]]>([
    ['was not committed', ['lost']],
    ['was committed', ['answer lost']],
    ['is still being committed when it is tried again', ['unanswered']],
    ['was committed, and is lost again and again', ['answer lost', 'lost', 'answer lost', 'unanswered']],
  ])('that %s is counted once and answered', async (_name, faults) => {
    // Committing takes a while: with "unanswered", the next attempt comes before its end.
    await plant(slowCommits(0.2));
    const client = await addClient(witness, { quota: 1 });
    const record = signed(client.id);
    proxy.faults.push(...faults);
    expect(await add(record)).toBe(true);
    expect(proxy.faults).toEqual([]);
    expect(await countedFor(witness, client)).toBe(1);
    expect(await isKept(record)).toBe(true);
    expect(await add(signed(client.id))).toBe(false);
  });

  test('in the transaction of many calls counts each of them once, up to each client’s quota', async () => {
    const clients = [await addClient(witness, { quota: 3 }), await addClient(witness)];
    const records = clients.flatMap(({ id }) => Array.from({ length: 5 }, () => signed(id)));
    proxy.faults.push('answer lost');
    const counted = await Promise.all(records.map((record) => add(record)));
    expect(counted.filter(Boolean)).toHaveLength(8);
    expect(await Promise.all(clients.map((client) => countedFor(witness, client)))).toEqual([3, 5]);
    expect(await Promise.all(records.map(isKept))).toEqual(counted);
  });

  test('that lasts longer than a call waits is an error, and the count is reverted', async () => {
    const client = await addClient(witness);
    const record = signed(client.id);
    proxy.faults.push('answer lost', ...Array<Fault>(50).fill('lost'));
    await expect(add(record, { ...PATIENCE, settling: 500 })).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await countedFor(witness, client)).toBe(1);
    proxy.faults.splice(0);
    await store.counting.takeBack(record, PATIENCE);
    expect(await countedFor(witness, client)).toBe(0);
    expect(await isKept(record)).toBe(false);
  });

  test('stays unknown when other errors come before it and after it', async () => {
    await plant(failingUpdates('40001', '<> 2'));
    const client = await addClient(witness);
    proxy.faults.push('lost');
    const failed = add(signed(client.id), { ...PATIENCE, settling: 1000 });
    await expect(failed).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(proxy.faults).toEqual([]);
  });

  test('is not tried again once the server ends', async () => {
    const client = await addClient(witness);
    proxy.faults.push('lost', 'lost');
    const failed = add(signed(client.id), { ...PATIENCE, ending: AbortSignal.abort() });
    await expect(failed).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await countedFor(witness, client)).toBe(0);
  });

  test('is reverted even while it is still being committed', async () => {
    await plant(slowCommits(0.2));
    const client = await addClient(witness);
    const record = signed(client.id);
    proxy.faults.push('unanswered');
    await expect(add(record, { ...PATIENCE, settling: 0 })).rejects.toBeInstanceOf(OutcomeUnknown);
    await store.counting.takeBack(record, PATIENCE);
    expect(await countedFor(witness, client)).toBe(0);
    expect(await isKept(record)).toBe(false);
  });
});

test('a COMMIT that is answered with ROLLBACK counts nothing, and each of its calls is counted in the retry', async () => {
  const client = await addClient(witness);
  const records = Array.from({ length: 3 }, () => signed(client.id));
  proxy.faults.push('rolled back');
  expect(await Promise.all(records.map((record) => add(record)))).toEqual([true, true, true]);
  expect(proxy.faults).toEqual([]);
  expect(await countedFor(witness, client)).toBe(3);
  expect(await Promise.all(records.map(isKept))).toEqual([true, true, true]);
});

describe('a transient error', () => {
  test.each(['40P01', '40001', '57014'])('%s is retried, call by call, and counts each once', async (code) => {
    const clients = [await addClient(witness), await addClient(witness, { quota: 2 })];
    await plant(failingUpdates(code, '<= 3'));
    const records = clients.flatMap(({ id }) => Array.from({ length: 3 }, () => signed(id)));
    const counted = await Promise.all(records.map((record) => add(record)));
    expect(counted).toEqual([true, true, true, true, true, false]);
    expect(await Promise.all(clients.map((client) => countedFor(witness, client)))).toEqual([3, 2]);
    expect(await Promise.all(records.map(isKept))).toEqual(counted);
  });

  test('a deadlock with another program is retried', async () => {
    const clients = [await addClient(witness), await addClient(witness)];
    const [first = '', second = ''] = clients.map(({ id }) => id).sort();
    const { lock, commit } = await anotherProgram();
    await lock(second);
    const counted = [first, second].map((id) => add(signed(id))); // holds the first, waits for the second
    await untilOneWaits();
    await lock(first);
    await commit();
    expect(await Promise.all(counted)).toEqual([true, true]);
    expect(postgres.log()).toContain('deadlock detected');
  });

  test('a locked row of one client does not delay the other clients of the batch', async () => {
    const [locked, free] = [await addClient(witness), await addClient(witness)];
    const { lock, commit } = await anotherProgram();
    await lock(locked.id);
    const waiting = add(signed(locked.id));
    const counted = add(signed(free.id));
    await untilOneWaits();
    await postgres.query(url, `select pg_cancel_backend(pid) from pg_stat_activity where ${WAITS}`);
    expect(await counted).toBe(true);
    expect(await countedFor(witness, locked)).toBe(0);
    await commit();
    expect(await waiting).toBe(true);
  });

  /** A transaction of another program, which locks rows of clients. */
  async function anotherProgram() {
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("set deadlock_timeout = '1min'"); // of two that wait for each other, the server notices it
    await other.query('begin');
    const lock = (id: string) => other.query('select from clients where id = $1 for update', [id]);
    return { lock, commit: () => other.query('commit') };
  }

  const WAITS = `application_name = 'codesign-remote-server' and wait_event_type = 'Lock'`;
  async function untilOneWaits() {
    await expect.poll(() => postgres.query(url, `select count(*) from pg_stat_activity where ${WAITS}`)).toBe('1');
  }
});

test('keeps the process alive when used connections break, and counts exactly what it reports', async () => {
  const client = await addClient(witness);
  let restarted = false;
  let failed = 0;
  let counted = 0;
  const caller = async () => {
    while (!restarted) {
      const calls = [witness.counting.add(signed(client.id), PATIENCE), witness.records.report('x', client.id, 1, NOW)];
      const [added, reported] = await Promise.allSettled(calls);
      counted += Number(added?.status === 'fulfilled');
      failed += Number(reported?.status === 'rejected');
    }
  };
  const callers = Promise.all(Array.from({ length: 8 }, caller));
  await postgres.stopImmediately();
  await postgres.start();
  restarted = true;
  await callers;
  expect(failed).toBeGreaterThan(0);
  await witness.check();
  expect(counted).toBeGreaterThan(0);
  expect(await countedFor(witness, client)).toBe(counted);
});

test('writes no error to the log of PostgreSQL when it rejects a call, or lets one through at the end of a quota', async () => {
  const before = postgres.log().length;
  const [usedUp, nearly] = [await addClient(witness, { quota: 0 }), await addClient(witness, { quota: 3 })];
  const ask = (clientId: string) => Promise.all(Array.from({ length: 5 }, () => add(signed(clientId))));
  const answers = await Promise.all([ask(usedUp.id), ask(nearly.id)]);
  expect(answers.map((counted) => counted.filter(Boolean).length)).toEqual([0, 3]);
  expect(postgres.log().slice(before)).not.toMatch(/ERROR|FATAL|STATEMENT/);
});

/** Changes how the database behaves for the rest of a test. */
async function plant(sql: string): Promise<void> {
  await postgres.query(url, sql);
  onTestFinished(async () => {
    await postgres.query(url, 'drop function if exists wait(), fail() cascade; drop sequence if exists attempts');
  });
}

/** Each COMMIT of a new record takes so many seconds. */
function slowCommits(seconds: number): string {
  return `create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return null; end $$;
    create constraint trigger slow after insert on records deferrable initially deferred for each row execute function wait()`;
}

/** The updates of clients with these numbers fail. A sequence counts them, since a rollback does not reset it. */
function failingUpdates(code: string, which: string): string {
  return `create sequence attempts;
    create function fail() returns trigger language plpgsql as $$ begin
      if nextval('attempts') ${which} then raise exception 'planted' using errcode = '${code}'; end if;
      return new;
    end $$;
    create trigger failing before update on clients for each row execute function fail()`;
}
