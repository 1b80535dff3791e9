/** The commands about viewers next to a running server, whose page shows immediately what they did. */

import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../test/support/services/server.ts';
import { folderForAll, forAll } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { adminCommand } from '../support/commands.ts';
import { basic, openApp } from '../support/in-process.ts';

const server = await forAll(openApp());
const folder = folderForAll();

const viewer = (args: readonly string[], atTerminal = false) =>
  adminCommand(['viewer', ...args, '--data', join(server.data.folder.path, '..')], atTerminal);
const pageFor = async (accessKey: string, accessSecret: string) => {
  const headers = { authorization: basic({ accessKey, accessSecret }) };
  return (await server.app.inject({ method: 'GET', url: '/', headers })).statusCode;
};

/** Adds a viewer by the command. */
async function added(name: string, ...args: readonly string[]) {
  const file = join(folder, `${name}.env`);
  const { code, output } = await viewer(['add', '--viewer-env', file, ...args]);
  expect(code).toBe(0);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { CODESIGN_VIEWER_ACCESS_KEY: key = '', CODESIGN_VIEWER_ACCESS_SECRET: secret = '' } =
    await readEnvironmentFile(file);
  expect(key).toMatch(/^VK[0-9A-F]{20}$/);
  expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(output).toBe(`${key}\n`);
  return { key, secret };
}

test('viewer add adds no viewer if the secret could not be shown, or if the options make no sense', async () => {
  const before = (await server.data.store.viewers.list()).length;
  const taken = join(folder, 'taken.env');
  await writeFile(taken, '');
  const errors = expect.stringContaining('--viewer-env is not given');
  expect(await viewer(['add'])).toMatchObject({ code: 2, output: '', errors });
  expect(await viewer(['add', '--viewer-env', taken])).toMatchObject({ code: 2, output: '' });
  expect(await viewer(['add', '--name', 'a\u001bb'], true)).toMatchObject({ code: 2, shown: '' });
  expect(await viewer(['add', '--expires', 'tomorrow'], true)).toMatchObject({ code: 2, shown: '' });
  expect(await server.data.store.viewers.list()).toHaveLength(before);
});

test('viewer list shows names and states, and add, --expires and remove take effect at the next call', async () => {
  const { key, secret } = await added('named', '--name', 'a\u202eb', '--expires', '2999-01-01');
  const past = await added('past', '--expires', '2020-01-01');
  expect([await pageFor(key, secret), await pageFor(past.key, past.secret)]).toEqual([200, 401]);
  const rows = async () => (await viewer(['list'])).output.split('\n').map((line) => line.split(/ {2,}/));
  expect(await rows()).toContainEqual([key, 'a\\u202eb', 'active', '2999-01-01T00:00:00.000Z']);
  const expired = { accessKey: past.key, name: null, state: 'expired', expiresAt: '2020-01-01T00:00:00.000Z' };
  expect(JSON.parse((await viewer(['list', '--json'])).output)).toContainEqual(expired);
  expect((await viewer(['remove', key])).code).toBe(0);
  expect(await pageFor(key, secret)).toBe(401);
  expect((await rows()).map(([first]) => first)).not.toContain(key);
  const errors = expect.stringContaining(SERVER_ERRORS['holder-not-found'].hint);
  expect(await viewer(['remove', key])).toMatchObject({ code: 2, errors });
});
