import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KINDS } from '../../../src/formats/kinds.ts';
import { readPolicy } from '../../../src/policy/policy-file.ts';
import { folderForAll } from '../../support/set-up.ts';

const folder = folderForAll();

async function read(policy: unknown) {
  const path = join(folder, `${Math.random()}.json`);
  await writeFile(path, typeof policy === 'string' ? policy : JSON.stringify(policy));
  return await readPolicy(path, KINDS);
}

const RULE = { files: '*.dll' };

it('reads every member, and finds roots next to the policy', async () => {
  const signer = { organization: 'Example Ltd', eku: '1.3.6.1.5.5.7.3.3', comment: 'us' };
  const signers = [`sha256:${'0'.repeat(64)}`, signer];
  const defaults = { timestamp: true, digest: 'SHA384', covered: ['own'], notOpened: 'fail', signers };
  const rule = { files: ['a', 'b'], kinds: ['pe'], require: 'nothing', reason: 'old', until: '2030-01-01' };
  const rest = { defaults, rules: [rule], minimum: { '*': 2 } };
  const policy = { $schema: 'x', comment: 'y', version: 1, roots: ['r.pem', 'system'], ...rest };
  expect(await read(policy)).toMatchObject({ ...policy, roots: [join(folder, 'r.pem'), 'system'] });
  expect((await read({ version: 1, rules: [RULE] })).rules).toEqual([{ files: ['*.dll'] }]);
});

it.each([
  ['has no version', {}, 'the member version is missing'],
  ['has another version', { version: 2 }, 'version: '],
  [
    'has an unknown member in a rule',
    { version: 1, rules: [{ ...RULE, timestamps: true }] },
    'the member rules[0].timestamps is unknown',
  ],
  ['has a rule without files', { version: 1, rules: [{ require: 'signed' }] }, 'the member rules[0].files is missing'],
  ['has an unknown kind', { version: 1, rules: [{ ...RULE, kinds: ['exe'] }] }, 'unknown kind "exe"'],
  ['has a pattern with "!"', { version: 1, rules: [{ files: '!a' }] }, 'cannot begin with "!"'],
  ['has an exception without a reason', { version: 1, rules: [{ ...RULE, require: 'nothing' }] }, 'needs a "reason"'],
  ['has an end without an exception', { version: 1, rules: [{ ...RULE, until: '2030-01-01' }] }, '"until" needs'],
  ['has a date that does not exist', { version: 1, rules: [{ ...RULE, until: 'soon' }] }, 'rules[0]'],
  ['has a digest that is unknown', { version: 1, defaults: { digest: 'MD5' } }, 'defaults.digest'],
  ['has a signer in capital letters', { version: 1, defaults: { signers: [`sha256:${'A'.repeat(64)}`] } }, 'signers'],
  ['has a minimum of nothing', { version: 1, minimum: { '*': 0 } }, 'minimum'],
])('rejects a policy that %s', async (_what, policy, problem) => {
  await expect(read(policy)).rejects.toMatchObject({
    code: 'policy-invalid',
    message: expect.stringContaining(problem),
  });
});

it('says why a policy cannot be read', async () => {
  await expect(readPolicy(join(folder, 'missing.json'), KINDS)).rejects.toMatchObject({ code: 'policy-unreadable' });
});
