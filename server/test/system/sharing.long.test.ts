import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SIGN_PATH } from '../../../src/service/messages.ts';
import { addClient } from '../support/clients.ts';
import { basic, goodRequest } from '../support/in-process.ts';
import { startLoad } from '../support/load.ts';
import { openScene } from '../support/server-scene.ts';

test('a client with 450 callers leaves another with 16 callers its share', async () => {
  await using scene = await openScene('PostgreSQL', 1);
  const address = scene.instances[0]?.address() ?? expect.unreachable();
  const start = async (callers: number) => {
    const headers = { authorization: basic(await addClient(scene.store)), 'content-type': 'application/json' };
    return await startLoad(address, callers, { path: SIGN_PATH, headers, body: JSON.stringify(goodRequest()) });
  };
  const [modest, greedy] = [await start(16), await start(450)];
  const signed = async () => {
    const [few = 0, many = 0] = await Promise.all(
      [modest, greedy].map(async (load) => (await load.answers()).get(200)),
    );
    return { few, many };
  };
  const before = await signed();
  await sleep(5000);
  const after = await signed();
  await Promise.all([modest.stop(), greedy.stop()]);
  const [few, many] = [after.few - before.few, after.many - before.many];
  process.stderr.write(`signatures: ${few} and ${many}\n`);
  expect(many).toBeGreaterThan(0);
  // Half would be fair. Without parts of their own, the callers' numbers decide: 3 %.
  expect(few / (few + many)).toBeGreaterThan(0.25);
}, 100_000);
