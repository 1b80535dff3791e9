import { expect, test } from 'vitest';
import { createSessionPool } from '../../src/keys/session-pool.ts';

function pool() {
  const opened: number[] = [];
  const discarded: number[] = [];
  const sessions = createSessionPool<number>({
    open: () => opened.push(opened.length),
    discard: (session) => discarded.push(session),
  });
  return { sessions, opened, discarded };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

test('gives each session to one task at a time, and opens no more than are in use concurrently', async () => {
  const { sessions, opened } = pool();
  const busy = new Set<number>();
  const caller = async () => {
    for (let turn = 0; turn < 5; turn++) {
      await sessions.use(async (session) => {
        expect(busy.has(session)).toBe(false);
        busy.add(session);
        await tick();
        busy.delete(session);
      });
    }
  };
  await Promise.all(Array.from({ length: 3 }, caller));
  expect(opened).toHaveLength(3);
});

test('replaces a session whose task failed', async () => {
  const { sessions, opened, discarded } = pool();
  await expect(sessions.use(async () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(discarded).toHaveLength(1);
  await sessions.use(async () => {});
  expect(opened).toHaveLength(2);
});

test('a session that cannot be opened does not keep it from being drained, or from opening the next', async () => {
  let broken = true;
  const sessions = createSessionPool<number>({
    open: () => {
      if (broken) throw new Error('no session');
      return 1;
    },
    discard: () => {},
  });
  await expect(sessions.use(async () => 1)).rejects.toThrow('no session');
  await sessions.drain();
  broken = false;
  expect(await sessions.use(async () => 2)).toBe(2);
});

test('is drained once all work is done', async () => {
  const { sessions } = pool();
  let done = 0;
  const work = async () => {
    await tick();
    done += 1;
  };
  for (let index = 0; index < 3; index++) void sessions.use(work);
  await sessions.drain();
  expect(done).toBe(3);
});

test('replaces sessions that were reported as lost, and closes none of them', async () => {
  const { sessions, opened, discarded } = pool();
  await Promise.all([sessions.use(tick), sessions.use(tick)]);
  sessions.forget();
  await sessions.use(async () => {});
  expect(opened).toHaveLength(3);
  expect(discarded).toEqual([]);
});
