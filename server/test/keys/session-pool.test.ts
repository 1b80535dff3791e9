import { expect, test } from 'vitest';
import { createSessionPool } from '../../src/keys/session-pool.ts';

function pool(size: number) {
  const opened: number[] = [];
  const discarded: number[] = [];
  const sessions = createSessionPool<number>(
    { open: () => opened.push(opened.length), discard: (session) => discarded.push(session) },
    size,
  );
  return { sessions, opened, discarded };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

test('never runs more work concurrently than it has sessions, and gives each session to one work', async () => {
  const { sessions, opened } = pool(3);
  const busy = new Set<number>();
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, () =>
      sessions.use(async (session) => {
        expect(busy.has(session)).toBe(false);
        busy.add(session);
        most = Math.max(most, busy.size);
        await tick();
        busy.delete(session);
      }),
    ),
  );
  expect(most).toBe(3);
  expect(opened).toHaveLength(3);
});

test('replaces a session whose work failed', async () => {
  const { sessions, opened, discarded } = pool(1);
  await expect(sessions.use(async () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(discarded).toHaveLength(1);
  await sessions.use(async () => {});
  expect(opened).toHaveLength(2);
});

test('a session that cannot be opened takes no place from the next work', async () => {
  let broken = true;
  const sessions = createSessionPool<number>(
    {
      open: () => {
        if (broken) throw new Error('no session');
        return 1;
      },
      discard: () => {},
    },
    1,
  );
  await expect(sessions.use(async () => 1)).rejects.toThrow('no session');
  broken = false;
  expect(await sessions.use(async () => 2)).toBe(2);
});

test('is drained once all work is done, the waiting too', async () => {
  const { sessions } = pool(1);
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
  const { sessions, opened, discarded } = pool(2);
  await Promise.all([sessions.use(tick), sessions.use(tick)]);
  sessions.forget();
  await sessions.use(async () => {});
  expect(opened).toHaveLength(3);
  expect(discarded).toEqual([]);
});
