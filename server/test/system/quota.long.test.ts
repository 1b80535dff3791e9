import { expect, test } from 'vitest';
import { quotaRounds } from '../support/quota-scene.ts';

// Several servers on one SQLite file is not what it is for, but must hold too.
test.each([
  ['PostgreSQL', { servers: 3, quota: 100, rounds: 3 }],
  ['PostgreSQL', { servers: 2, quota: 1000, rounds: 1 }],
  ['SQLite', { servers: 3, quota: 100, rounds: 2 }],
] as const)(
  'servers on one %s database, killed and started again, never go over a quota and count what they answer: %j',
  async (kind, rounds) => {
    await expect(quotaRounds(kind, { ...rounds, callers: 64 })).resolves.toBeUndefined();
  },
  900_000,
);
