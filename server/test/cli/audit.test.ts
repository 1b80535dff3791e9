/** The audit records every command that changes something, and no secret. */

import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForAll } from '../../../test/support/set-up.ts';
import { adminCommand, allCommands } from '../support/commands.ts';

const folder = folderForAll();
let shown = '';
const data = join(folder, 'data');
await copyData(data, 2048);

const admin = async (...args: readonly string[]) => {
  const result = await adminCommand([...args, '--data', data], true);
  shown += result.shown;
  return result;
};
const audit = async (): Promise<readonly Readonly<Record<string, string | null>>[]> =>
  JSON.parse((await admin('audit', '--json', '--limit', '1000')).output);

const READING = [/ list$/, /^records show$/, /^export$/];

test('records each changing command with its target and options, and without secrets and paths', async () => {
  const before = (await audit()).length;
  const started = new Date().toISOString();
  const run = async (...args: readonly string[]) => {
    const { code, output, errors } = await admin(...args);
    const unexpected = errors.replace(/^the server has not been started.*\n/, '');
    expect({ code, unexpected }).toEqual({ code: 0, unexpected: '' });
    return output.trim();
  };
  const openssl = (line: string) => execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'pipe' });
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout root.key';
  openssl(`req -x509 ${key} -out root.pem -subj /CN=R`);
  // A changed copy of the data has what `init` and `start` recorded.
  await run('start', '--port', '0', '--log-level', 'silent');
  await run('certificate', 'add', '--number', 'two', '--bits', '2048', '--common-name', 'It’s ours');
  await writeFile(join(folder, 'csr.pem'), await run('certificate', 'request', '--number', 'three', '--bits', '2048'));
  await writeFile(join(folder, 'ext'), 'extendedKeyUsage=codeSigning');
  openssl('x509 -req -in csr.pem -CA root.pem -CAkey root.key -CAcreateserial -out leaf.pem -extfile ext');
  const chain = join(folder, 'chain.pem');
  const pem = await Promise.all(['leaf.pem', 'root.pem'].map((name) => readFile(join(folder, name), 'utf8')));
  await writeFile(chain, pem.join(''));
  await run('certificate', 'import', '--number', 'three', '--chain', chain);
  await run('certificate', 'disable', 'two');
  await run('certificate', 'enable', 'two', '--for', '2h');
  const client = await run('client', 'add', '--name', 'nightly builds', '--certificate', '1', '--certificate', 'two');
  await run('client', 'change', 'nightly builds', '--name', 'builds', '--all-certificates');
  await run('client', 'disable', 'builds');
  await run('client', 'enable', client);
  const file = join(folder, 'rotated.env');
  const rotated = ['--keep-old', '1h', '--client-env', file, '--base-url', 'https://a:b@sign.example'];
  await run('client', 'rotate', client, ...rotated);
  await run('quota', 'set', 'builds', '7', '--monthly');
  const viewer = await run('viewer', 'add');
  await run('viewer', 'remove', viewer);
  await run('records', 'prune', '--before', '2020-01-01');
  await admin('client', 'disable', 'unknown');
  await admin('certificate', 'enable', 'unknown');

  const entries = (await audit()).slice(before);
  const who = { operator: expect.stringContaining(userInfo().username), host: hostname(), at: expect.any(String) };
  const first = entries[0]?.target ?? '';
  expect(first).toMatch(/^AK[0-9A-F]{20}$/);
  expect(entries).toEqual(
    [
      ['start', first, 'port=0 log-level=silent'],
      ['certificate add', 'two', "number=two bits=2048 common-name='It’s ours'"],
      ['certificate request', 'three', 'number=three bits=2048'],
      ['certificate import', 'three', 'number=three'],
      ['certificate disable', 'two', ''],
      ['certificate enable', 'two', 'for=2h'],
      ['client add', client, "name='nightly builds' certificate=1 certificate=two"],
      ['client change', client, 'name=builds all-certificates'],
      ['client disable', client, ''],
      ['client enable', client, ''],
      ['client rotate', client, 'keep-old=1h'],
      ['quota set', client, '7 monthly'],
      ['viewer add', viewer, ''],
      ['viewer remove', viewer, ''],
      ['records prune', null, 'before=2020-01-01'],
    ].map(([command, target, details]) => ({ ...who, command, target, details })),
  );
  for (const { at } of entries) expect(at && at >= started && at <= new Date().toISOString()).toBe(true);

  const all = await audit();
  const { output } = await admin('export', '--audit', '--format', 'json');
  expect(JSON.parse(output)).toEqual(all);
  const csv = (await admin('export', '--audit')).output;
  expect(csv.split('\n')[0]).toBe('at,operator,host,command,target,details');
  expect((await admin('export', '--audit', '--client', client)).code).toBe(2);
  const table = (await admin('audit', 'list')).output;
  expect(table).toMatch(/^AT +OPERATOR +HOST +COMMAND +TARGET +DETAILS\n/);
  const printed = `${shown}${await readFile(file, 'utf8')}`;
  const secrets = [...printed.matchAll(/_SECRET='(.{43})'/g)].map(([, secret]) => secret);
  expect(secrets).toHaveLength(4);
  for (const secret of [...secrets, folder, 'a:b@']) expect(output + csv + table).not.toContain(secret);

  const names = allCommands().map(([name]) => name);
  const changing = names.filter((name) => !READING.some((pattern) => pattern.test(name)));
  expect(new Set([...entries, { command: 'init' }].map(({ command }) => command))).toEqual(new Set(changing));
  expect(all.some(({ command, target }) => command === 'init' && target?.endsWith('service'))).toBe(true);
}, 60_000);

test('names the caller of sudo, and lists what is requested', async () => {
  vi.stubEnv('SUDO_USER', 'alice');
  await admin('client', 'add', '--name', 'by Alice');
  vi.unstubAllEnvs();
  expect((await audit()).at(-1)?.operator).toBe(`alice as ${userInfo().username}`);
  expect(JSON.parse((await admin('audit', 'list', '--limit', '1', '--json')).output)).toHaveLength(1);
  expect((await admin('audit', 'list', '--until', '2020-01-01')).output).toBe('');
  expect((await admin('audit', 'list', '--since', 'yesterday')).code).toBe(2);
});
