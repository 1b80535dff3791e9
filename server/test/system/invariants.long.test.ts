/** What holds whatever is killed or restarted: returned ⊆ counted ≤ quota, and a call that was rejected does not count. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { addClient } from '../support/clients.ts';
import { allRecords } from '../support/counting-scene.ts';
import { goodRequest } from '../support/in-process.ts';
import type { Instance, SignAnswer } from '../support/instances.ts';
import { openScene } from '../support/server-scene.ts';

const CALLERS = 24;
const BEFORE = { timeout: 60_000, interval: 20 };

// The quota is less than the calls, so that many are rejected. Several servers on one SQLite file is not what it is for, but
// must hold too.
test.each([
  { kind: 'PostgreSQL', signal: 'SIGKILL', total: 3000, quota: 1800, disturbances: 14 },
  { kind: 'SQLite', signal: 'SIGKILL', total: 800, quota: 480, disturbances: 6 },
  { kind: 'SQLite', signal: 'SIGTERM', total: 600, quota: 360, disturbances: 4 },
] as const)(
  '$total calls of 3 servers on $kind, with $disturbances restarts of them ($signal) or of PostgreSQL: every returned signature counts, and no rejected one',
  async ({ kind, signal, total, quota, disturbances }) => {
    await using scene = await openScene(kind, 3);
    const { store, instances, postgres } = scene;
    const client = await addClient(store, { quota });
    /** By its digest, each call: its answer, or undefined where none came. */
    const calls = new Map<string, SignAnswer | undefined>();
    const call = async (turn: number) => {
      const digest = randomBytes(32);
      const key = digest.toString('hex');
      calls.set(key, undefined);
      const request = { ...goodRequest(), digest: digest.toString('base64') };
      const answer = await instances[turn % instances.length]?.sign(request, client).catch((error: unknown) => {
        // Nothing reached a server that is down. Anything else may have been signed.
        if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') calls.delete(key);
      });
      if (answer) calls.set(key, answer);
      return answer || undefined;
    };
    const caller = async (index: number) => {
      for (let turn = index; calls.size < total; turn++) if ((await call(turn))?.status !== 200) await sleep(50);
    };
    const disturb = async (victim: Instance | undefined, turn: number) => {
      if (postgres === undefined || turn % 2 === 1) {
        await victim?.end(signal);
        return await victim?.start();
      }
      await postgres.stopImmediately();
      await expect.poll(() => victim?.status('/readyz'), BEFORE).toBe(503);
      expect(await victim?.status('/healthz')).toBe(200);
      await postgres.start();
      await expect.poll(() => victim?.status('/readyz'), BEFORE).toBe(200);
    };
    const disturbing = async () => {
      for (let turn = 0; turn < disturbances; turn++) {
        // Spread over the calls: what they do is under way each time.
        await vi.waitUntil(() => calls.size >= (total * (turn + 1)) / (disturbances + 2), BEFORE);
        await disturb(instances[turn % instances.length], turn);
        expect(instances.map((each) => each.isAlive())).toEqual([true, true, true]);
      }
    };
    await Promise.all([disturbing(), ...Array.from({ length: CALLERS }, (_, index) => caller(index))]);
    // Interrupted calls that were not counted took nothing from the quota, so all of it can be used.
    while ((await call(0))?.status === 200);

    const records = await allRecords(store, { clientId: client.id });
    const byDigest = new Map(records.map((record) => [Buffer.from(record.digest).toString('hex'), record]));
    const count = { returned: 0, refused: 0, failed: 0, lost: 0, lostButCounted: 0 };
    const wrong: string[] = [];
    for (const [digest, answer] of calls) {
      const record = byDigest.get(digest);
      if (answer === undefined) {
        count.lost += 1;
        count.lostButCounted += Number(record?.counted ?? false);
      } else if (answer.status === 200) {
        count.returned += 1;
        const signature = Buffer.from(record?.signature ?? []).toString('base64');
        if (!record?.counted || signature !== answer.body.data?.signature)
          wrong.push(`${digest} returned, not counted`);
      } else {
        count[answer.status === 403 ? 'refused' : 'failed'] += 1;
        if (record?.counted) wrong.push(`${digest} answered with ${answer.status}, counted`);
      }
    }
    process.stderr.write(`${calls.size} calls: ${JSON.stringify(count)}\n`);
    expect(wrong).toEqual([]);
    expect(count.refused + count.failed).toBeGreaterThanOrEqual(total / 5);
    expect(count.failed + count.lost).toBeGreaterThan(0); // or no disturbance met a call
    if (signal === 'SIGTERM') expect(count.lostButCounted).toBe(0);
    expect(records.filter(({ counted }) => counted)).toHaveLength(quota);
    expect(count.returned + count.lostButCounted).toBe(quota);
    expect(await store.clients.findByAccessKey(client.accessKey)).toMatchObject({ signatures: quota });
  },
  400_000,
);
