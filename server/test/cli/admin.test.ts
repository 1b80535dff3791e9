/** The administration commands next to a running server. */

import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { beforeEach, describe, expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../test/support/services/server.ts';
import { folderForAll, forAll } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { digestOfSecret } from '../../src/http/auth.ts';
import { keepAddress } from '../../src/setup/address.ts';
import { adminCommand } from '../support/commands.ts';
import { type Credentials, goodRequest, NUMBER, openApp } from '../support/in-process.ts';
import { seedRecords } from '../support/page-scene.ts';

/** One for all tests: each has clients of its own. */
const server = await forAll(openApp());
const data = join(server.data.folder.path, '..');
const folder = folderForAll();

const admin = (...args: readonly string[]) => adminCommand([...args, '--data', data]);
const atTerminal = (...args: readonly string[]) => adminCommand([...args, '--data', data], true);
/** A list as JSON. */
const listed = async (...args: readonly string[]): Promise<readonly Record<string, unknown>[]> =>
  JSON.parse((await admin(...args, '--json')).output);

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
  return { accessKey, accessSecret, clientId: '' };
}

const fails = async (result: ReturnType<typeof admin>, code: keyof typeof SERVER_ERRORS) => {
  const { hint, exitCode } = SERVER_ERRORS[code];
  const { errors, ...rest } = await result;
  expect(rest).toMatchObject({ code: exitCode, output: '' });
  expect(errors).toContain(hint);
};

describe('client add', () => {
  test('adds a client that the running server accepts immediately, within its limits', async () => {
    const client = await added('--name', 'builds', '--certificate', NUMBER, '--algorithm', 'SHA256', '--quota', '1');
    expect((await server.sign(goodRequest(), client)).body.code).toBe(0);
    expect((await server.sign(goodRequest(), client)).body.code).toBe(403);
    expect((await server.sign({ ...goodRequest(), code: '1' }, client)).body.code).toBe(400);
    expect(await server.data.store.clients.findByAccessKey(client.accessKey)).toMatchObject({
      name: 'builds',
      certificates: [NUMBER],
      algorithms: ['SHA256'],
      quota: 1,
    });
  });

  test('is rejected from the time that --expires gives', async () => {
    expect((await server.sign(goodRequest(), await added('--expires', '2020-01-01'))).body.code).toBe(401);
    expect((await server.sign(goodRequest(), await added('--expires', '2999-01-01T00:00:00Z'))).body.code).toBe(0);
  });

  test('shows the secret at a terminal, and nowhere else', async () => {
    const { code, output, errors, shown } = await atTerminal('client', 'add', '--base-url', 'https://sign.example');
    const secret = /^CODESIGN_ACCESS_SECRET='(.{43})'$/m.exec(shown)?.[1] ?? 'none';
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).not.toContain(secret);
    expect(await readFile(server.data.folder.database, 'latin1')).not.toContain(secret);
  });

  test('writes every variable that a client needs; the address is the configured one before the first start', async () => {
    const clientEnv = join(folder, 'all.env');
    const { errors } = await admin('client', 'add', '--client-env', clientEnv, '--certificate', NUMBER);
    expect(errors).toMatch(/not been started yet.* https:\/\/127\.0\.0\.1:8443\..*--base-url/);
    const { folder: made } = server.data;
    expect(await readEnvironmentFile(clientEnv)).toEqual({
      CODESIGN_BASE_URL: 'https://127.0.0.1:8443',
      CODESIGN_CA_FILE: made.tls.ca,
      CODESIGN_CODE: NUMBER,
      CODESIGN_CERTIFICATE: made.certificate(NUMBER),
      CODESIGN_ACCESS_KEY: expect.any(String),
      CODESIGN_ACCESS_SECRET: expect.any(String),
    });
    expect((await stat(made.certificate(NUMBER))).isFile()).toBe(true);
  });

  test('writes the address of the last start, or that of --base-url, without a comment', async () => {
    const caFile = '/etc/ssl/our.pem';
    await keepAddress(server.data.folder, { baseUrl: 'https://sign.example:7443', caFile });
    const [last, named] = [join(folder, 'last.env'), join(folder, 'named.env')];
    const results = [
      await admin('client', 'add', '--client-env', last),
      await admin('client', 'add', '--client-env', named, '--base-url', 'https://proxy.example/sign'),
    ];
    expect(results.map(({ code, errors }) => [code, errors])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const read = async (path: string) => {
      const { CODESIGN_BASE_URL, CODESIGN_CA_FILE } = await readEnvironmentFile(path);
      return [CODESIGN_BASE_URL, CODESIGN_CA_FILE];
    };
    expect(await read(last)).toEqual(['https://sign.example:7443', caFile]);
    expect(await read(named)).toEqual(['https://proxy.example/sign', caFile]);
    for (const address of ['http://sign.example', 'sign.example']) {
      await fails(atTerminal('client', 'add', '--base-url', address), 'invalid-option');
    }
    await rm(server.data.folder.address);
  });

  test('comments out the certificates if the client may use several, and omits a disabled one', async () => {
    const [both, one] = [join(folder, 'both.env'), join(folder, 'one.env')];
    await admin('client', 'add', '--client-env', both);
    await admin('certificate', 'disable', '1');
    await admin('client', 'add', '--client-env', one);
    const { folder: made } = server.data;
    const lines = (number: string, comment: string) =>
      `${comment}CODESIGN_CODE='${number}'\n${comment}CODESIGN_CERTIFICATE='${made.certificate(number)}'\n`;
    expect(await readFile(both, 'utf8')).toContain(lines('1', '# ') + lines(NUMBER, '# '));
    expect(await readFile(one, 'utf8')).toContain(lines(NUMBER, ''));
    expect(await readFile(one, 'utf8')).not.toContain('#');
    for (const path of [both, one]) await readEnvironmentFile(path); // watches the secrets
    await admin('certificate', 'enable', '1');
  });

  test('adds no client if the secret could not be shown, or if the options make no sense', async () => {
    const before = (await server.data.store.clients.list()).length;
    const clientEnv = join(folder, 'taken.env');
    await writeFile(clientEnv, '');
    await fails(admin('client', 'add'), 'nobody-to-hand-credentials-to');
    await fails(admin('client', 'add', '--client-env', clientEnv), 'client-env-exists');
    for (const [option, value] of [
      ['--quota', '-1'],
      ['--quota', '1.5'],
      ['--quota', '2000000001'],
      ['--algorithm', 'sha256'],
      ['--expires', 'tomorrow'],
      ['--expires', '2030-02-31x'],
      ['--name', 'a\u001bb'],
    ] as const) {
      await fails(atTerminal('client', 'add', `${option}=${value}`), 'invalid-option');
    }
    await fails(atTerminal('client', 'add', '--certificate', 'none'), 'certificate-not-found');
    expect(await server.data.store.clients.list()).toHaveLength(before);
  });
});

test('client rotate --keep-old accepts both secrets for that time, and then only the new one', async () => {
  const client = await added();
  const call = async (accessSecret: string) =>
    (await server.sign(goodRequest(), { ...client, accessSecret })).body.code;
  const rotate = async (...args: readonly string[]) => {
    const clientEnv = join(folder, `${Math.random()}.env`);
    expect((await admin('client', 'rotate', client.accessKey, '--client-env', clientEnv, ...args)).code).toBe(0);
    return (await readEnvironmentFile(clientEnv)).CODESIGN_ACCESS_SECRET ?? '';
  };
  const oldSecretUntil = async () => (await listed('client', 'list')).at(-1)?.oldSecretUntil;
  const second = await rotate('--keep-old', '24h');
  expect([await call(client.accessSecret), await call(second), await call('neither')]).toEqual([0, 0, 401]);
  expect(new Date(String(await oldSecretUntil())).getTime() - Date.now()).toBeGreaterThan(23.9 * 3_600_000);

  const third = await rotate('--keep-old', '1d');
  expect([await call(client.accessSecret), await call(second), await call(third)]).toEqual([401, 0, 0]);
  await server.data.store.clients.rotate(client.accessKey, digestOfSecret(Buffer.from(third)), new Date());
  expect([await call(second), await call(third)]).toEqual([401, 0]); // its time is over
  await rotate('--keep-old', '7d');
  expect(await call(third)).toBe(0);
  await admin('client', 'disable', client.accessKey);
  expect(await call(third)).toBe(401);
  await rotate();
  expect(await oldSecretUntil()).toBeNull();
  for (const duration of ['24', '0h', '1.5h', '-1h', 'tomorrow']) {
    await fails(atTerminal('client', 'rotate', client.accessKey, `--keep-old=${duration}`), 'invalid-option');
  }
});

test('client disable, enable and rotate take effect at the next call', async () => {
  const client = await added();
  const call = async (by = client) => (await server.sign(goodRequest(), by)).body.code;
  expect((await admin('client', 'disable', client.accessKey)).code).toBe(0);
  expect(await call()).toBe(401);
  expect((await admin('client', 'enable', client.accessKey)).code).toBe(0);
  expect(await call()).toBe(0);

  const clientEnv = join(folder, 'rotated.env');
  expect((await admin('client', 'rotate', client.accessKey, '--client-env', clientEnv)).code).toBe(0);
  const environment = await readEnvironmentFile(clientEnv);
  expect(environment).toMatchObject({
    CODESIGN_ACCESS_KEY: client.accessKey,
    CODESIGN_BASE_URL: 'https://127.0.0.1:8443',
    CODESIGN_CA_FILE: server.data.folder.tls.ca,
  });
  expect(await call()).toBe(401);
  expect(await call({ ...client, accessSecret: environment.CODESIGN_ACCESS_SECRET ?? '' })).toBe(0);

  for (const command of ['disable', 'enable']) await fails(admin('client', command, 'nobody'), 'holder-not-found');
  await fails(atTerminal('client', 'rotate', 'nobody'), 'holder-not-found');
  await fails(admin('client', 'rotate', client.accessKey), 'nobody-to-hand-credentials-to');
});

test('client list shows state, count and permissions, aligned or as JSON', async () => {
  const client = await added('--name', '漢a\u202eb', '--quota', '2', '--algorithm', 'SHA256', '--algorithm', 'SHA384');
  const off = await added('--certificate', NUMBER);
  const old = await added('--expires', '2020-01-01');
  await server.sign(goodRequest(), client);
  await admin('client', 'disable', off.accessKey);
  const rows = await listed('client', 'list');
  const row = ({ accessKey }: Credentials) => rows.find((each) => each.accessKey === accessKey);
  const plain = {
    name: null,
    quota: null,
    expiresAt: null,
    certificates: null,
    algorithms: null,
    oldSecretUntil: null,
  };
  expect(row(client)).toEqual({
    ...{ ...plain, accessKey: client.accessKey, name: '漢a\u202eb', state: 'active', signatures: 1, quota: 2 },
    algorithms: ['SHA256', 'SHA384'],
  });
  expect(row(off)).toEqual({
    ...{ ...plain, accessKey: off.accessKey, state: 'disabled', signatures: 0, certificates: [NUMBER] },
  });
  expect(row(old)).toMatchObject({ state: 'expired', expiresAt: '2020-01-01T00:00:00.000Z' });

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
  const change = (...args: readonly string[]) => admin('client', 'change', client.accessKey, ...args);
  const row = async () => (await listed('client', 'list')).find(({ accessKey }) => accessKey === client.accessKey);
  const call = async () => (await server.sign(goodRequest(), client)).body.code;
  const before = await row();
  expect(await call()).toBe(400);
  expect((await change('--certificate', '1', '--certificate', NUMBER)).code).toBe(0);
  expect(await row()).toEqual({ ...before, certificates: ['1', NUMBER] });
  expect(await call()).toBe(403);
  expect((await change('--algorithm', 'SHA256', '--name', 'nightly builds')).code).toBe(0);
  expect(await row()).toMatchObject({ name: 'nightly builds', algorithms: ['SHA256'], quota: 9 });
  expect(await call()).toBe(0);
  expect(server.log().at(-1)).toMatchObject({
    outcome: 'signed',
    client: 'nightly builds',
    accessKey: client.accessKey,
  });
  await change('--expires', '2020-01-01');
  expect(await call()).toBe(401);
  await change('--expires', 'none', '--all-certificates', '--all-algorithms', '--name', '');
  expect(await row()).toMatchObject({
    name: null,
    certificates: null,
    algorithms: null,
    expiresAt: null,
    signatures: 1,
  });
  expect(await call()).toBe(0);

  await fails(change(), 'nothing-to-change');
  await fails(change('--certificate', 'none'), 'certificate-not-found');
  await fails(change('--algorithm', 'MD5'), 'invalid-option');
  await fails(change('--expires', 'tomorrow'), 'invalid-option');
  await fails(change('--name', 'a\u001bb'), 'invalid-option');
  expect((await change('--certificate', '1', '--all-certificates')).code).toBe(2);
  await fails(admin('client', 'change', 'nobody', '--name', 'x'), 'holder-not-found');
  expect(await row()).toMatchObject({ name: null, certificates: null, algorithms: null });
});

test('certificate disable and enable take effect at the next call', async () => {
  const call = async () => (await server.sign(goodRequest())).body.code;
  const states = async () => (await listed('certificate', 'list')).map(({ number, state }) => [number, state]);
  expect(await call()).toBe(0);
  expect((await admin('certificate', 'disable', NUMBER)).code).toBe(0);
  expect(await call()).toBe(400);
  expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'disabled', certificate: NUMBER });
  expect(await states()).toEqual([
    ['1', 'valid'],
    [NUMBER, 'disabled'],
  ]);
  expect((await admin('certificate', 'enable', NUMBER)).code).toBe(0);
  expect(await call()).toBe(0);
  for (const command of ['disable', 'enable']) await fails(admin('certificate', command, '0'), 'certificate-not-found');
});

test('certificate enable --for accepts calls until its end, and a client that may use it sees that it is disabled', async () => {
  const other = await added('--certificate', '1');
  const call = async (by = server.credentials) => (await server.sign(goodRequest(), by)).body;
  const row = async () => (await listed('certificate', 'list')).find(({ number }) => number === NUMBER);
  await admin('certificate', 'disable', NUMBER);
  expect(await call()).toMatchObject({ code: 400, message: 'invalid request: the certificate is disabled' });
  expect((await call(other)).message).toContain('does not identify a valid certificate');
  expect((await admin('certificate', 'enable', NUMBER, '--for', '2h')).code).toBe(0);
  expect(await call()).toMatchObject({ code: 0 });
  const { state, enabledUntil } = (await row()) ?? {};
  expect(state).toBe('valid');
  expect(Math.abs(new Date(String(enabledUntil)).getTime() - Date.now() - 7_200_000)).toBeLessThan(60_000);

  await server.data.store.certificates.disable(NUMBER, false, new Date()); // the end of another such time
  expect(await call()).toMatchObject({ code: 400, message: 'invalid request: the certificate is disabled' });
  expect(await row()).toMatchObject({ state: 'disabled' });
  await admin('certificate', 'enable', NUMBER);
  expect(await row()).toMatchObject({ state: 'valid', enabledUntil: null });
  await fails(admin('certificate', 'enable', NUMBER, '--for', '2 hours'), 'invalid-option');
});

test('quota shows what is left, and sets a different limit', async () => {
  const client = await added('--quota', '3');
  await server.sign(goodRequest(), client);
  const row = async () => (await listed('quota')).find(({ accessKey }) => accessKey === client.accessKey);
  const used = { accessKey: client.accessKey, name: null, signatures: 1 };
  const month = { thisMonth: 1, monthlyQuota: null, leftThisMonth: null };
  expect(await row()).toEqual({ ...used, quota: 3, left: 2, ...month });
  expect((await admin('quota')).output).toMatch(
    /^ACCESS KEY +NAME +SIGNATURES +QUOTA +LEFT +THIS MONTH +MONTHLY QUOTA +LEFT THIS MONTH\n/,
  );
  expect((await admin('quota', 'set', client.accessKey, 'none')).code).toBe(0);
  expect(await row()).toEqual({ ...used, quota: null, left: null, ...month });
  expect((await admin('quota', 'set', client.accessKey, '1')).code).toBe(0);
  expect(await row()).toEqual({ ...used, quota: 1, left: 0, ...month });
  expect((await server.sign(goodRequest(), client)).status).toBe(403);
  await fails(admin('quota', 'set', 'nobody', '1'), 'holder-not-found');
  await fails(admin('quota', 'set', client.accessKey, 'many'), 'invalid-option');
});

test('a monthly quota is shown next to the total, and named in its rejection', async () => {
  const client = await added('--monthly-quota', '1', '--quota', '9');
  const call = async () => (await server.sign(goodRequest(), client)).body;
  const row = async () => (await listed('quota')).find(({ accessKey }) => accessKey === client.accessKey);
  expect((await call()).code).toBe(0);
  expect(await call()).toMatchObject({ code: 403, message: "this month's quota is exhausted" });
  expect((await admin('quota', 'set', client.accessKey, '2', '--monthly')).code).toBe(0);
  expect(await row()).toMatchObject({ quota: 9, left: 8, thisMonth: 1, monthlyQuota: 2, leftThisMonth: 1 });
  expect((await call()).code).toBe(0);
  await admin('quota', 'set', client.accessKey, '2');
  expect(await call()).toMatchObject({ code: 403, message: 'the quota is exhausted' });
  await admin('quota', 'set', client.accessKey, 'none', '--monthly');
  expect(await row()).toMatchObject({ quota: 2, monthlyQuota: null, leftThisMonth: null });
  await fails(atTerminal('client', 'add', '--monthly-quota', 'many'), 'invalid-option');
});

describe('a name instead of the access key', () => {
  test.each([
    ['client disable', 'client', ['client', 'disable', 'NAME'], { state: 'disabled' }],
    ['client change', 'client', ['client', 'change', 'NAME', '--expires', '2020-01-01'], { state: 'expired' }],
    ['quota set', 'client', ['quota', 'set', 'NAME', '5'], { quota: 5 }],
    ['viewer remove', 'viewer', ['viewer', 'remove', 'NAME'], undefined],
  ] as const)('works for %s if it is unique', async (_name, kind, args, row) => {
    const unique = `${args.join(' ')} only`;
    await atTerminal('viewer', 'add', '--name', unique);
    await added('--name', unique);
    expect((await admin(...args.map((arg) => (arg === 'NAME' ? unique : arg)))).code).toBe(0);
    const rows = (await listed(kind, 'list')).filter(({ name }) => name === unique);
    expect(rows).toEqual(row === undefined ? [] : [expect.objectContaining(row)]);
  });

  test('works for client rotate and records, and an access key takes precedence', async () => {
    const client = await added('--name', 'rotated');
    await added('--name', client.accessKey);
    expect((await atTerminal('client', 'rotate', 'rotated')).code).toBe(0);
    expect((await admin('client', 'disable', client.accessKey)).code).toBe(0);
    expect((await listed('client', 'list')).find(({ name }) => name === 'rotated')).toMatchObject({
      state: 'disabled',
    });
    expect((await admin('records', '--client', 'rotated')).code).toBe(0);
    expect((await admin('export', '--client', 'rotated')).code).toBe(0);
  });

  test('is rejected if several clients have it, and the error lists their access keys', async () => {
    const [one, two] = [await added('--name', 'of two'), await added('--name', 'of two')];
    const { errors } = await admin('client', 'disable', 'of two');
    expect(errors).toContain(`${one.accessKey}, ${two.accessKey}`);
    await fails(admin('client', 'disable', 'of two'), 'name-ambiguous');
    await fails(admin('records', '--client', 'of two'), 'name-ambiguous');
  });
});

async function withoutRecords(): Promise<void> {
  const file = new Database(server.data.folder.database);
  file.exec('delete from records');
  file.close();
}

describe('records', () => {
  const HOSTILE = { hostname: '=cmd|"x"', platform: 'a,b\nc', signing_filename: '/home/someone/\u009bapp.exe' };
  let ids: string[];
  beforeEach(async () => {
    await withoutRecords();
    ids = [];
    for (const extra of [HOSTILE, undefined]) {
      const { body } = await server.sign({ ...goodRequest(), ...(extra && { extra }) });
      ids.push(body.data?.id ?? '');
    }
    await server.report({ id: ids[1], status: 2 });
  });

  test('lists the latest, and those that are requested', async () => {
    const idsOf = async (...args: readonly string[]) => (await listed('records', ...args)).map(({ id }) => id);
    const { accessKey } = server.credentials;
    const [heading, first, second, ...more] = (await admin('records')).output.trimEnd().split('\n');
    expect(heading).toMatch(/^ID +SIGNED AT +CLIENT +CERTIFICATE +ALGORITHM +COUNTED +REPORT +FILE$/);
    const columns = [accessKey, NUMBER, 'SHA256', 'yes', 'none', '\\u009bapp.exe'];
    expect(first?.split(/ {2,}/)).toEqual([ids[0], expect.any(String), ...columns]);
    expect(second?.split(/ {2,}/)[6]).toBe('failed');
    expect(more).toEqual([]);
    expect(await idsOf()).toEqual(ids);
    expect(await idsOf('--limit', '1')).toEqual([ids[1]]);
    expect((await admin('records', '--since', '2999-01-01')).output).toBe('');
    expect(await idsOf('--until', '2020-01-01')).toEqual([]);
    expect(await idsOf('--certificate', '1')).toEqual([]);
    expect(await idsOf('--client', accessKey)).toHaveLength(2);
    await fails(admin('records', '--client', 'nobody'), 'holder-not-found');
    await fails(admin('records', '--limit', '0'), 'invalid-option');
    await fails(admin('records', '--since', 'yesterday'), 'invalid-option');
  });

  test('prune removes old records, and leaves the counts', async () => {
    const { store } = server.data;
    const record = await store.records.find(ids[0] ?? '');
    if (record === undefined) throw new Error('no record');
    const day = new Date('2020-02-02');
    const { clientId, certificate } = record;
    const old = Array.from({ length: 1001 }, () => ({ clientId, certificate, signedAt: day }));
    seedRecords(server.data.folder.database, old);
    const counted = await server.counted();
    const prune = (before: string) => admin('records', 'prune', '--before', before);
    expect((await prune('2020-02-02')).output).toBe('0\n');
    expect((await prune('2020-02-02T00:00:00.001Z')).output).toBe('1001\n');
    expect((await listed('records')).map(({ id }) => id)).toEqual(ids);
    expect(await server.counted()).toBe(counted);
    await fails(prune('2999-01-01'), 'invalid-option');
    await fails(prune('yesterday'), 'invalid-option');
  });

  test('shows one with the signature that the client received', async () => {
    const { body } = await server.sign(goodRequest());
    const shown = JSON.parse((await admin('records', 'show', body.data?.id ?? '')).output);
    expect(shown).toMatchObject({ id: body.data?.id, signature: body.data?.signature, digest: '07'.repeat(32) });
    await fails(admin('records', 'show', 'none'), 'record-not-found');
  });

  test('exports JSON with everything except signatures', async () => {
    const { output } = await admin('export', '--format', 'json');
    const records = JSON.parse(output);
    expect(records.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(records[0].extra).toEqual({ ...HOSTILE, signing_filename: '\u009bapp.exe' });
    expect(records[1]).toMatchObject({ report: 'failed', counted: true });
    expect(output).not.toMatch(/signature"|\u009b/);
    expect(JSON.parse((await admin('export', '--format', 'json', '--until', '2020-01-01')).output)).toEqual([]);
  });

  test('exports CSV that no spreadsheet reads as formulas', async () => {
    const { output } = await admin('export');
    expect(output.split('\n')[0]).toMatch(
      /^id,signedAt,client,clientName,certificate,algorithm,digest,counted,report,/,
    );
    expect(output).toContain(`,"'=cmd|""x""",`);
    expect(output).toContain(',"a,b\\u000ac",');
    expect(output).not.toContain('someone');
    expect(output).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test('exports no field that is a formula, wherever a spreadsheet splits', async () => {
    const hostnames = [
      ...['x;=1+1', 'x,=1+1', 'x\t=1+1', 'x\r\n=1+1', 'x;\u00a0 =1+1', 'x; "=1+1"', 'x;"; @SUM(1)'],
      ...['"=1+1', "';+1", 'x;;-1', '\u001b;=1', '\uff1d1+1'],
    ];
    for (const hostname of hostnames) await server.sign({ ...goodRequest(), extra: { hostname } });
    const { output } = await admin('export');
    expect(output).not.toMatch(/[^\n\P{Cc}]/u);
    const lines = output.trimEnd().split('\n').slice(-hostnames.length);
    const fields = lines.flatMap((line) => [/,/, /;/, /[,;]/].flatMap((separator) => line.split(separator)));
    expect(fields.filter((field) => /^[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(field))).toEqual([]);
    expect(fields.filter((field) => /'[=+\-@\uff1d]/.test(field)).length).toBeGreaterThanOrEqual(hostnames.length);
  });

  test('exports a harmless text of a build unchanged', async () => {
    await server.sign({ ...goodRequest(), extra: { version: '1.0-rc.1', hostname: 'a - b = c', time: "it's -1" } });
    expect((await admin('export')).output).toContain(",1.0-rc.1,,it's -1,a - b = c,");
  });

  test('exports more records than one query returns', async () => {
    const { store } = server.data;
    const record = await store.records.find(ids[0] ?? '');
    if (record === undefined) throw new Error('no record');
    const { clientId, certificate, signedAt } = record;
    seedRecords(
      server.data.folder.database,
      Array.from({ length: 1100 }, () => ({ clientId, certificate, signedAt })),
    );
    expect(JSON.parse((await admin('export', '--format', 'json')).output)).toHaveLength(1102);
  });
});
