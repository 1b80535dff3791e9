import { expect, test } from 'vitest';
import { quotaRounds } from '../support/quota-scene.ts';

// Several servers on one SQLite file is not what it is for, but must hold too.
test.each([
  ['PostgreSQL', 8],
  ['SQLite', 3],
] as const)(
  'servers on one %s database, killed and started again and again, never go over a quota and count what they answer',
  async (kind, rounds) => {
    await expect(quotaRounds(kind, rounds, 400)).resolves.toBeUndefined();
  },
  900_000,
);
