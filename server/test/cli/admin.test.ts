/** The administration commands next to a running server. */

import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../test/support/services/server.ts';
import { folderForAll, forAll } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { digestOfSecret } from '../../src/http/auth.ts';
import { keepAddress } from '../../src/setup/address.ts';
import type { Credentials } from '../support/clients.ts';
import { adminCommand } from '../support/commands.ts';
import { goodRequest, NUMBER, openApp } from '../support/in-process.ts';

/** One for all tests: each has clients of its own. */
const server = await forAll(openApp());
const { store, folder: made } = server.data;
const data = join(made.path, '..');
const folder = folderForAll();

const admin = (...args: readonly string[]) => adminCommand([...args, '--data', data]);
const atTerminal = (...args: readonly string[]) => adminCommand([...args, '--data', data], true);
const does = async (...args: readonly string[]) => expect((await admin(...args)).code).toBe(0);
/** A list as JSON. */
const listed = async (...args: readonly string[]): Promise<readonly Record<string, unknown>[]> =>
  JSON.parse((await admin(...args, '--json')).output);
const rowOf = async ({ accessKey }: Credentials, ...list: readonly string[]) =>
  (await listed(...list)).find((row) => row.accessKey === accessKey);
const call = async (by: Credentials = server.credentials) => (await server.sign(goodRequest(), by)).body;
const codeOf = async (by?: Credentials) => (await call(by)).code;

/** Adds a client by the command. */
async function added(...args: readonly string[]): Promise<Credentials> {
  const clientEnv = join(folder, `${Math.random()}.env`);
  const { code, output } = await admin('client', 'add', '--client-env', clientEnv, ...args);
  expect(code).toBe(0);
  const { CODESIGN_ACCESS_KEY: accessKey = '', CODESIGN_ACCESS_SECRET: accessSecret = '' } =
    await readEnvironmentFile(clientEnv);
  expect(output).toBe(`${accessKey}\n`);
  expect(accessSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect((await stat(clientEnv)).mode & 0o777).toBe(0o600);
  return { accessKey, accessSecret };
}

const fails = async (result: ReturnType<typeof admin>, code: keyof typeof SERVER_ERRORS) => {
  const { hint, exitCode } = SERVER_ERRORS[code];
  const { errors, ...rest } = await result;
  expect(rest).toMatchObject({ code: exitCode, output: '' });
  expect(errors).toContain(hint);
};

test.each([
  ...['--quota=-1', '--quota=1.5', '--quota=2000000001', '--monthly-quota=many', '--algorithm=sha256'],
  ...['--expires=tomorrow', '--expires=2030-02-31x', '--name=a\u001bb', '--base-url=http://x', '--base-url=x'],
])('client add rejects %s and adds no client', async (option) => {
  const before = (await store.clients.list()).length;
  await fails(atTerminal('client', 'add', option), 'invalid-option');
  expect(await store.clients.list()).toHaveLength(before);
});

test.each([
  ['holder-not-found', 'client disable nobody'],
  ['holder-not-found', 'client rotate nobody'],
  ['holder-not-found', 'client change nobody --name x'],
  ['holder-not-found', 'quota set nobody 1'],
  ['holder-not-found', 'records --client nobody'],
  ['certificate-not-found', 'client add --certificate none'],
  ['certificate-not-found', 'client change KEY --certificate none'],
  ['certificate-not-found', 'certificate disable 0'],
  ['nothing-to-change', 'client change KEY'],
  ['record-not-found', 'records show none'],
  ['invalid-option', 'certificate enable 1 --for 2hours'],
  ['invalid-option', 'client change KEY --algorithm MD5'],
  ...['24', '0h', '1.5h', '-1h', 'tomorrow'].map(
    (duration) => ['invalid-option', `client rotate KEY --keep-old=${duration}`] as const,
  ),
  ['invalid-option', 'quota set KEY many'],
  ['invalid-option', 'records --limit 0'],
  ['invalid-option', 'records --since yesterday'],
  ['invalid-option', 'records prune --before 2999-01-01'],
  ['invalid-option', 'records prune --before yesterday'],
] as const)('fails with %s: %s', async (code, line) => {
  await fails(atTerminal(...line.replace('KEY', server.credentials.accessKey).split(' ')), code);
});

describe('client add', () => {
  test('adds a client that the running server accepts immediately, within its limits', async () => {
    const client = await added('--name', 'builds', '--certificate', NUMBER, '--algorithm', 'SHA256', '--quota', '1');
    expect([await codeOf(client), await codeOf(client)]).toEqual([0, 403]);
    expect((await server.sign({ ...goodRequest(), code: '1' }, client)).body.code).toBe(400);
    expect(await codeOf(await added('--expires', '2020-01-01'))).toBe(401);
    expect(await codeOf(await added('--expires', '2999-01-01T00:00:00Z'))).toBe(0);
  });

  test('shows the secret at a terminal, and nowhere else', async () => {
    const { code, output, errors, shown } = await atTerminal('client', 'add', '--base-url', 'https://sign.example');
    const secret = /^CODESIGN_ACCESS_SECRET='(.{43})'$/m.exec(shown)?.[1] ?? 'none';
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).not.toContain(secret);
    expect(await readFile(made.database, 'latin1')).not.toContain(secret);
  });

  test('writes every variable that a client needs, with the configured address, the last one or the given one', async () => {
    const clientEnv = join(folder, 'all.env');
    const { errors } = await admin('client', 'add', '--client-env', clientEnv, '--certificate', NUMBER);
    expect(errors).toMatch(/not been started yet.* https:\/\/127\.0\.0\.1:8443\..*--base-url/);
    expect(await readEnvironmentFile(clientEnv)).toEqual({
      CODESIGN_BASE_URL: 'https://127.0.0.1:8443',
      CODESIGN_CA_FILE: made.tls.ca,
      CODESIGN_CODE: NUMBER,
      CODESIGN_CERTIFICATE: made.certificate(NUMBER),
      CODESIGN_ACCESS_KEY: expect.any(String),
      CODESIGN_ACCESS_SECRET: expect.any(String),
    });
    expect((await stat(made.certificate(NUMBER))).isFile()).toBe(true);

    const last = { baseUrl: 'https://sign.example:7443', caFile: '/etc/ssl/our.pem' };
    await keepAddress(made, last);
    for (const [index, url] of [undefined, 'https://proxy.example/sign'].entries()) {
      const file = join(folder, `${index}.env`);
      const args = url === undefined ? [] : ['--base-url', url];
      expect(await admin('client', 'add', '--client-env', file, ...args)).toMatchObject({ code: 0, errors: '' });
      const address = { CODESIGN_BASE_URL: url ?? last.baseUrl, CODESIGN_CA_FILE: last.caFile };
      expect(await readEnvironmentFile(file)).toMatchObject(address);
    }
    for (const damaged of ['', '{}']) {
      await writeFile(made.address, damaged);
      const result = await admin('client', 'add', '--client-env', join(folder, 'none.env'));
      expect(result).toMatchObject({ code: 6, errors: expect.stringContaining(SERVER_ERRORS['address-damaged'].hint) });
    }
    await rm(made.address);
  });

  test('comments out the certificates if the client may use several, and omits a disabled one', async () => {
    const [both, one] = [join(folder, 'both.env'), join(folder, 'one.env')];
    await admin('client', 'add', '--client-env', both);
    await admin('certificate', 'disable', '1');
    await admin('client', 'add', '--client-env', one);
    const lines = (number: string, comment: string) =>
      `${comment}CODESIGN_CODE='${number}'\n${comment}CODESIGN_CERTIFICATE='${made.certificate(number)}'\n`;
    expect(await readFile(both, 'utf8')).toContain(lines('1', '# ') + lines(NUMBER, '# '));
    expect(await readFile(one, 'utf8')).toContain(lines(NUMBER, ''));
    expect(await readFile(one, 'utf8')).not.toContain('#');
    for (const path of [both, one]) await readEnvironmentFile(path); // watches the secrets
    await admin('certificate', 'enable', '1');
  });

  test('adds no client if the secret could not be shown', async () => {
    const before = (await store.clients.list()).length;
    const clientEnv = join(folder, 'taken.env');
    await writeFile(clientEnv, '');
    await fails(admin('client', 'add'), 'nobody-to-hand-credentials-to');
    await fails(admin('client', 'add', '--client-env', clientEnv), 'client-env-exists');
    await fails(admin('client', 'rotate', server.credentials.accessKey), 'nobody-to-hand-credentials-to');
    expect(await store.clients.list()).toHaveLength(before);
  });
});

test('client rotate --keep-old accepts both secrets for that time, and then only the new one', async () => {
  const client = await added();
  const codes = async (...secrets: readonly string[]) =>
    await Promise.all(secrets.map((accessSecret) => codeOf({ ...client, accessSecret })));
  const rotate = async (...args: readonly string[]) => {
    const clientEnv = join(folder, `${Math.random()}.env`);
    await does('client', 'rotate', client.accessKey, '--client-env', clientEnv, ...args);
    const variables = await readEnvironmentFile(clientEnv);
    expect(variables).toMatchObject({ CODESIGN_ACCESS_KEY: client.accessKey, CODESIGN_CA_FILE: made.tls.ca });
    return variables.CODESIGN_ACCESS_SECRET ?? '';
  };
  const oldSecretUntil = async () => (await rowOf(client, 'client', 'list'))?.oldSecretUntil;
  const second = await rotate('--keep-old', '24h');
  expect(await codes(client.accessSecret, second, 'neither')).toEqual([0, 0, 401]);
  expect(new Date(String(await oldSecretUntil())).getTime() - Date.now()).toBeGreaterThan(23.9 * 3_600_000);

  const third = await rotate('--keep-old', '1d');
  expect(await codes(client.accessSecret, second, third)).toEqual([401, 0, 0]);
  const fourth = 'the fourth secret';
  await store.clients.rotate(client.accessKey, digestOfSecret(Buffer.from(fourth)), new Date());
  expect(await codes(third, fourth)).toEqual([401, 0]); // the time of the third is over
  await rotate('--keep-old', '7d');
  expect(await codes(fourth)).toEqual([0]);
  await admin('client', 'disable', client.accessKey);
  expect(await codes(fourth)).toEqual([401]);
  await admin('client', 'enable', client.accessKey);
  const last = await rotate();
  expect(await codes(fourth, last)).toEqual([401, 0]);
  expect(await oldSecretUntil()).toBeNull();
});

test('client list shows state, count and permissions, aligned or as JSON', async () => {
  const client = await added('--name', '漢a\u202eb', '--quota', '2', '--algorithm', 'SHA256', '--algorithm', 'SHA384');
  const off = await added('--certificate', NUMBER);
  const old = await added('--expires', '2020-01-01');
  await call(client);
  await admin('client', 'disable', off.accessKey);
  const names = ['name', 'quota', 'expiresAt', 'certificates', 'algorithms', 'oldSecretUntil'];
  const plain = Object.fromEntries(names.map((name) => [name, null]));
  expect(await rowOf(client, 'client', 'list')).toEqual({
    ...{ ...plain, accessKey: client.accessKey, name: '漢a\u202eb', state: 'active', signatures: 1, quota: 2 },
    algorithms: ['SHA256', 'SHA384'],
  });
  const offRow = { ...plain, accessKey: off.accessKey, state: 'disabled', signatures: 0, certificates: [NUMBER] };
  expect(await rowOf(off, 'client', 'list')).toEqual(offRow);
  const expired = { state: 'expired', expiresAt: '2020-01-01T00:00:00.000Z' };
  expect(await rowOf(old, 'client', 'list')).toMatchObject(expired);

  const [heading = '', ...table] = (await admin('client', 'list')).output.trimEnd().split('\n');
  expect(heading).toMatch(
    /^ACCESS KEY +NAME +STATE +SIGNATURES +QUOTA +EXPIRES AT +CERTIFICATES +ALGORITHMS +OLD SECRET UNTIL$/,
  );
  const at = heading.indexOf('STATE');
  for (const line of table) {
    expect(line.slice(at)).toMatch(/^(active|disabled|expired) +\d+ +(none|\d+) +(never|2020|2999)/);
    expect(line.slice(0, at)).toMatch(/ {2}$/);
  }
  expect(table.join()).toContain('漢a\\u202eb');
});

test('client change changes the given settings only, from the next call on', async () => {
  const client = await added('--name', 'builds', '--certificate', '1', '--algorithm', 'SHA384', '--quota', '9');
  const change = (...args: readonly string[]) => does('client', 'change', client.accessKey, ...args);
  const row = () => rowOf(client, 'client', 'list');
  const before = await row();
  expect(await codeOf(client)).toBe(400);
  await change('--certificate', '1', '--certificate', NUMBER);
  expect(await row()).toEqual({ ...before, certificates: ['1', NUMBER] });
  expect(await codeOf(client)).toBe(403);
  expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'not-allowed' });
  await change('--algorithm', 'SHA256', '--name', 'nightly builds');
  expect(await row()).toMatchObject({ name: 'nightly builds', algorithms: ['SHA256'], quota: 9 });
  expect(await codeOf(client)).toBe(0);
  const line = { outcome: 'signed', client: 'nightly builds', accessKey: client.accessKey };
  expect(server.log().at(-1)).toMatchObject(line);
  await change('--expires', '2020-01-01');
  expect(await codeOf(client)).toBe(401);
  await change('--expires', 'none', '--all-certificates', '--all-algorithms', '--name', '');
  const unrestricted = { name: null, certificates: null, algorithms: null, expiresAt: null };
  expect(await row()).toMatchObject({ ...unrestricted, signatures: 1 });
  expect(await codeOf(client)).toBe(0);
  const both = ['--certificate', '1', '--all-certificates'];
  expect((await admin('client', 'change', client.accessKey, ...both)).code).toBe(2);
});

test('certificate disable and enable --for take effect at the next call, and only clients that may use it see why', async () => {
  const other = await added('--certificate', '1');
  const row = async () => (await listed('certificate', 'list')).find(({ number }) => number === NUMBER);
  const disabled = { code: 400, message: 'invalid request: the certificate is disabled' };
  await does('certificate', 'disable', NUMBER);
  expect(await call()).toMatchObject(disabled);
  expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'disabled', certificate: NUMBER });
  expect((await call(other)).message).toContain('does not identify a valid certificate');
  await does('certificate', 'enable', NUMBER, '--for', '2h');
  expect(await codeOf()).toBe(0);
  const { state, enabledUntil } = (await row()) ?? {};
  expect(state).toBe('valid');
  expect(Math.abs(new Date(String(enabledUntil)).getTime() - Date.now() - 7_200_000)).toBeLessThan(60_000);

  await store.certificates.disable(NUMBER, false, new Date()); // the end of another such time
  expect(await call()).toMatchObject(disabled);
  expect(await row()).toMatchObject({ state: 'disabled' });
  await does('certificate', 'enable', NUMBER);
  expect(await row()).toMatchObject({ state: 'valid', enabledUntil: null });
});

test('quota shows what is left in total and for the month, and sets different limits', async () => {
  const client = await added('--monthly-quota', '1', '--quota', '9');
  const row = () => rowOf(client, 'quota');
  const set = (...args: readonly string[]) => does('quota', 'set', client.accessKey, ...args);
  expect(await codeOf(client)).toBe(0);
  expect(await call(client)).toMatchObject({ code: 403, message: "this month's quota is exhausted" });
  const used = { accessKey: client.accessKey, name: null, signatures: 1, thisMonth: 1 };
  expect(await row()).toEqual({ ...used, quota: 9, left: 8, monthlyQuota: 1, leftThisMonth: 0 });
  const headings = /^ACCESS KEY +NAME +SIGNATURES +QUOTA +LEFT +THIS MONTH +MONTHLY QUOTA +LEFT THIS MONTH\n/;
  expect((await admin('quota')).output).toMatch(headings);
  await set('2', '--monthly');
  expect(await codeOf(client)).toBe(0);
  await set('2');
  expect(await call(client)).toMatchObject({ code: 403, message: 'the quota is exhausted' });
  await set('2000000000');
  expect(await row()).toMatchObject({ quota: 2_000_000_000 });
  await set('2');
  await set('none', '--monthly');
  expect(await row()).toMatchObject({ quota: 2, left: 0, monthlyQuota: null, leftThisMonth: null });
  await set('none');
  expect(await row()).toMatchObject({ quota: null, left: null });
  expect(await codeOf(client)).toBe(0);
});

describe('a name instead of the access key', () => {
  test.each([
    ['client', ['client', 'disable', 'NAME'], { state: 'disabled' }],
    ['client', ['client', 'change', 'NAME', '--expires', '2020-01-01'], { state: 'expired' }],
    ['client', ['quota', 'set', 'NAME', '5'], { quota: 5 }],
    ['viewer', ['viewer', 'remove', 'NAME'], undefined],
  ] as const)('names a %s for %j if it is unique', async (kind, args, row) => {
    const unique = `${args.join(' ')} only`;
    await atTerminal('viewer', 'add', '--name', unique);
    await added('--name', unique);
    await does(...args.map((arg) => (arg === 'NAME' ? unique : arg)));
    const rows = (await listed(kind, 'list')).filter(({ name }) => name === unique);
    expect(rows).toEqual(row === undefined ? [] : [expect.objectContaining(row)]);
  });

  test('works for client rotate and records, and an access key takes precedence', async () => {
    const client = await added('--name', 'rotated');
    await added('--name', client.accessKey);
    expect((await atTerminal('client', 'rotate', 'rotated')).code).toBe(0);
    await does('client', 'disable', client.accessKey);
    expect(await rowOf(client, 'client', 'list')).toMatchObject({ name: 'rotated', state: 'disabled' });
    await does('records', '--client', 'rotated');
    await does('export', '--client', 'rotated');
  });

  test('is rejected if several clients have it, and the error lists their access keys', async () => {
    const [one, two] = [await added('--name', 'of two'), await added('--name', 'of two')];
    const { errors } = await admin('client', 'disable', 'of two');
    expect(errors).toContain(`${one.accessKey}, ${two.accessKey}`);
    await fails(admin('client', 'disable', 'of two'), 'name-ambiguous');
    await fails(admin('records', '--client', 'of two'), 'name-ambiguous');
  });
});
