/** What holds whatever is killed or restarted: returned ⊆ counted ≤ quota, and a call that was rejected does not count. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SignatureRecord } from '../../src/records/rows.ts';
import type { Store } from '../../src/records/store.ts';
import { addClient } from '../support/clients.ts';
import { allRecords } from '../support/counting-scene.ts';
import { goodRequest } from '../support/in-process.ts';
import type { SignAnswer } from '../support/instances.ts';
import { openScene } from '../support/quota-scene.ts';

const CALLS = 5000;
const CALLERS = 24;
/** Restarts of PostgreSQL, and kills of servers. */
const RESTARTS = 10;
const KILLS = 10;
/** Fewer than the calls, so that many are rejected. */
const QUOTA = 3000;

test('5,000 calls, 10 restarts of PostgreSQL and 10 kills of 3 servers: every returned signature counts, and no rejected one', async () => {
  await using scene = await openScene('PostgreSQL', 3);
  const { store, instances, postgres } = scene;
  const client = await addClient(store, { quota: QUOTA });
  /** By its digest, each call: its answer, or undefined where none came. */
  const calls = new Map<string, SignAnswer | undefined>();
  let disturbed = 0;
  const caller = async (index: number) => {
    for (let turn = index; calls.size < CALLS; turn++) {
      const digest = randomBytes(32);
      calls.set(digest.toString('hex'), undefined);
      const request = { ...goodRequest(), digest: digest.toString('base64') };
      const answer = await instances[turn % instances.length]?.sign(request, client).catch((error: unknown) => {
        // Nothing reached a server that is down. Anything else may have been signed.
        if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return 'down' as const;
        return undefined;
      });
      if (answer === 'down') calls.delete(digest.toString('hex'));
      else calls.set(digest.toString('hex'), answer);
      if (answer === undefined || answer === 'down' || answer.status !== 200) await sleep(50);
    }
  };
  const disturb = async () => {
    for (; disturbed < RESTARTS + KILLS; disturbed++) {
      // Spread over the calls: what they do is under way each time.
      while (calls.size < (CALLS * (disturbed + 1)) / (RESTARTS + KILLS + 2)) await sleep(20);
      const victim = instances[disturbed % instances.length];
      if (disturbed % 2 === 0) await postgres?.restart();
      else await victim?.kill().then(() => victim.start());
      expect(instances.map((each) => each.isAlive())).toEqual([true, true, true]);
    }
  };
  await Promise.all([disturb(), ...Array.from({ length: CALLERS }, (_, index) => caller(index))]);
  expect(disturbed).toBe(RESTARTS + KILLS);

  const records = await recordsByDigest(store, client.id);
  const count = { returned: 0, refused: 0, failed: 0, lost: 0, lostButCounted: 0 };
  const wrong: string[] = [];
  for (const [digest, answer] of calls) {
    const record = records.get(digest);
    if (answer === undefined) {
      count.lost += 1;
      if (record?.counted) count.lostButCounted += 1;
    } else if (answer.status === 200) {
      count.returned += 1;
      const signature = Buffer.from(record?.signature ?? []).toString('base64');
      if (!record?.counted || signature !== answer.body.data?.signature) wrong.push(`${digest} returned, not counted`);
    } else {
      count[answer.status === 403 ? 'refused' : 'failed'] += 1;
      if (record?.counted) wrong.push(`${digest} answered with ${answer.status}, counted`);
    }
  }
  process.stderr.write(`${calls.size} calls: ${JSON.stringify(count)}\n`);
  expect(wrong).toEqual([]);
  expect(count.refused + count.failed).toBeGreaterThanOrEqual(1000);
  expect(count.failed).toBeGreaterThan(0); // or no restart met a call

  const counted = [...records.values()].filter((record) => record.counted).length;
  const { signatures } = (await store.clients.findByAccessKey(client.accessKey)) ?? {};
  expect(signatures).toBe(counted);
  expect(counted).toBeLessThanOrEqual(QUOTA);
  expect(counted).toBe(count.returned + count.lostButCounted);
}, 400_000);

test('servers live through three restarts of PostgreSQL under load, and are not ready during that time', async () => {
  await using scene = await openScene('PostgreSQL', 2);
  const { store, instances, postgres } = scene;
  const client = await addClient(store);
  let going = true;
  const caller = async (index: number) => {
    while (going) {
      const answer = await instances[index % 2]?.sign(goodRequest(), client);
      if (answer?.status !== 200) await sleep(50);
    }
  };
  const callers = Promise.all(Array.from({ length: 20 }, (_, index) => caller(index)));
  for (let restart = 0; restart < 3; restart++) {
    await sleep(300);
    const statuses = new Set<number>();
    await postgres?.stopImmediately();
    while (!statuses.has(503)) statuses.add((await instances[restart % 2]?.status('/readyz')) ?? 0);
    expect(await instances[restart % 2]?.status('/healthz')).toBe(200);
    await postgres?.start();
    while ((await instances[restart % 2]?.status('/readyz')) !== 200) await sleep(100);
    expect(instances.map((each) => each.isAlive())).toEqual([true, true]);
  }
  going = false;
  await callers;
  expect((await instances[0]?.sign(goodRequest(), client))?.status).toBe(200);
}, 200_000);

async function recordsByDigest(store: Store, clientId: string): Promise<ReadonlyMap<string, SignatureRecord>> {
  const records = await allRecords(store, { clientId });
  return new Map(records.map((record) => [Buffer.from(record.digest).toString('hex'), record]));
}
