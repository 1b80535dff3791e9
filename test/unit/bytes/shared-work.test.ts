import { expect, it } from 'vitest';
import { shareWork } from '../../../src/bytes/reuse.ts';

/** Work whose turns are ended one by one, from outside. */
function turns() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const shared = shareWork(() => new Promise<void>((resolve, reject) => void ends.push({ resolve, reject })));
  return { ends, shared };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('is done once for all who ask at the same time', async () => {
  const { ends, shared } = turns();
  const all = Promise.all([shared(), shared(), shared()]);
  await settled();
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await all;
});

it('is done again, once, for all who ask while it is going: it may have begun too early for them', async () => {
  const { ends, shared } = turns();
  const first = shared();
  await settled();
  let served = 0;
  const later = [shared(), shared()].map((one) => one.then(() => (served += 1)));
  ends[0]?.resolve();
  await first;
  await settled();
  expect([ends.length, served]).toEqual([2, 0]);
  ends[1]?.resolve();
  await Promise.all(later);
  expect(served).toBe(2);
});

it('fails for those whom it was done for, and is done for the next ones anyway', async () => {
  const { ends, shared } = turns();
  const failing = [shared(), shared()];
  await settled();
  const next = shared();
  ends[0]?.reject(new Error('no room'));
  for (const one of failing) await expect(one).rejects.toThrow('no room');
  await settled();
  ends[1]?.resolve();
  await expect(next).resolves.toBeUndefined();
});
