/** One round of the quota's hardest case: many calls concurrently over several servers, each of which is killed on the way. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Store } from '../../src/records/store.ts';
import { addClient } from './clients.ts';
import { allRecords } from './counting-scene.ts';
import { goodRequest } from './in-process.ts';
import type { Instance, SignAnswer } from './instances.ts';

export interface QuotaRound {
  readonly quota: number;
  /** Each requests one signature after the other. */
  readonly callers: number;
}

/**
 * After how much of the quota an instance is killed: while places are left, and calls are under way. A killed one takes answers
 * with it that count; where so few are left that the next number is never reached, it happens at a refusal.
 */
const KILLS = [0.1, 0.35, 0.6];

/**
 * @param store the test's own connection to the database of the instances, which run
 * @returns the number of calls that a kill interrupted
 */
export async function quotaRound(
  store: Store,
  instances: readonly Instance[],
  { quota, callers }: QuotaRound,
): Promise<number> {
  const client = await addClient(store, { name: 'round', quota });
  const { id } = client;

  const answers: SignAnswer[] = [];
  const signed = () => answers.filter(({ body }) => body.code === 0);
  let lost = 0;
  const restarts: Promise<void>[] = [];
  let restarted = 0;
  /** Asks on until all servers have come back and say that no signature is left. */
  const caller = async (index: number): Promise<void> => {
    for (let turn = index; ; turn++) {
      const last = restarted === KILLS.length;
      const answer = await instances[turn % instances.length]?.sign(goodRequest(), client).catch((error: unknown) => {
        // Nothing reached a server that is down. Anything else may have been signed.
        if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) lost += 1;
      });
      if (answer) answers.push(answer);
      const next = KILLS[restarts.length];
      const victim = instances[restarts.length % instances.length];
      if (next !== undefined && victim !== undefined && (signed().length >= next * quota || answer?.status === 403)) {
        const restart = async () => {
          await victim.kill();
          await victim.start();
          restarted += 1;
        };
        restarts.push(restart());
      }
      if (answer?.status === 403 && last) return;
      if (answer?.status !== 200) await sleep(200 + 10 * (index % 20));
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  await Promise.all(restarts);
  expect(restarts).toHaveLength(KILLS.length);

  // Calls that a kill interrupted before they were counted left the quota as it was: it is used up to the last signature.
  for (let index = 0; index <= quota; index++) {
    const answer = await instances[index % instances.length]?.sign(goodRequest(), client);
    if (answer === undefined) break;
    answers.push(answer);
    if (answer.status === 403) break;
  }
  expect(answers.at(-1)).toMatchObject({ status: 403, body: { code: 403, data: null } });
  expect(await store.clients.findByAccessKey(client.accessKey)).toMatchObject({ signatures: quota });

  const records = new Map((await allRecords(store, { clientId: id })).map((record) => [record.id, record]));
  expect([...records.values()].filter(({ counted }) => counted)).toHaveLength(quota);
  expect(signed().length).toBeLessThanOrEqual(quota);
  for (const { body } of signed()) {
    const record = records.get(body.data?.id ?? '');
    expect(record?.counted).toBe(true);
    expect(Buffer.from(record?.signature ?? []).toString('base64')).toBe(body.data?.signature);
  }
  return lost;
}
