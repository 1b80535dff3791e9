import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';

it('shows its value in no channel but reveal', () => {
  const secret = new Secret('hunter2-value');
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ nested: { secret } }, { depth: 10, showHidden: true }),
    format('%s %o %j', secret, secret, secret),
    Object.values(secret).join(),
    `${secret}`.concat(secret as unknown as string),
  ].join('\n');
  expect(shown).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2-value');
});
