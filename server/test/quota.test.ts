import { expect, test } from 'vitest';
import { DATABASES, quotaRounds } from './support/quota-scene.ts';

test.each(DATABASES)(
  'servers on one %s database, killed and started again, never go over a quota and count what they answer',
  async (kind) => {
    await expect(quotaRounds(kind, 1, 150)).resolves.toBeUndefined();
  },
  90_000,
);
