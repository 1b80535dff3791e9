/** What those who run the server see and rely on: health, metrics, the bound of its work, TLS again. */

import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openssl } from '../../../test/support/programs/openssl.ts';
import { startServer } from '../../../test/support/services/server.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { ServerError } from '../../src/errors.ts';
import { asHsmError } from '../../src/keys/pkcs11-library.ts';
import { DAY, lookAhead } from '../../src/look-ahead.ts';
import { dataFolder } from '../../src/setup/data-folder.ts';
import { ownTls } from '../../src/setup/tls.ts';
import type { Credentials } from '../support/clients.ts';
import { pass } from '../support/clock.ts';
import { goodRequest, NUMBER, openApp, type TestApp } from '../support/in-process.ts';

/** A TLS record with a fatal alert (RFC 8446, 6.2). */
const INTERNAL_ERROR_ALERT = Buffer.from([0x15, 3, 1, 0, 2, 2, 80]);

let server: TestApp;
afterEach(async () => {
  vi.restoreAllMocks();
  await server?.close();
});

const get = (path: string) => server.call({ method: 'GET', path });
const metrics = async () => (await server.app.inject({ method: 'GET', url: '/metrics' })).body;

test('reports to every caller that it is alive and ready, without a log line', async () => {
  server = await openApp();
  for (const path of ['/healthz', '/readyz']) {
    expect(await get(path)).toMatchObject({ status: 200, body: { code: 0, data: null } });
  }
  expect(server.logText()).toBe('');
});

test('is not ready while the database or the HSM does not answer, but lives, and is ready again after that', async () => {
  let broken = true;
  const away = async () => {
    if (broken) throw new ServerError('hsm-failed', { operation: 'answer', reason: 'CKR_DEVICE_REMOVED' });
  };
  server = await openApp(({ store, keys }) => ({ store: { ...store, check: away }, keys: { ...keys, check: away } }));
  const answers = await Promise.all([get('/readyz'), get('/readyz')]);
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' }, body: { code: 503, data: null } });
    expect(answer.body.message).toMatch(/database, hsm$/);
  }
  expect(server.log()).toContainEqual(expect.objectContaining({ outcome: 'not-ready', what: 'hsm' }));
  expect((await get('/healthz')).status).toBe(200);
  expect(await metrics()).toContain('\ncodesign_ready{check="database"} 0\n');
  broken = false;
  expect((await get('/readyz')).status).toBe(503); // the answer of a moment ago
  pass(1100);
  expect((await get('/readyz')).status).toBe(200);
  expect(server.log().at(-1)).toMatchObject({ outcome: 'ready' });
});

test('names a cause once in the log, and says why a database with several addresses is unavailable', async () => {
  const refused = new AggregateError(
    ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}`)),
  );
  server = await openApp(({ store, keys }) => ({
    store: { ...store, check: () => Promise.reject(new Error('not counted', { cause: refused })) },
    keys: { ...keys, check: () => Promise.reject(asHsmError('answer', new Error('CKR_DEVICE_REMOVED'))) },
  }));
  await get('/readyz');
  const errors = new Map(server.log().map(({ what, err }) => [what, err]));
  expect(errors.get('hsm')).toEqual({
    ...{ type: 'ServerError', code: 'hsm-failed', message: 'the HSM failed to answer: CKR_DEVICE_REMOVED' },
    stack: expect.not.stringContaining('caused by'),
  });
  expect(errors.get('database')).toEqual({
    ...{ type: 'Error', message: 'not counted: connect ECONNREFUSED ::1, connect ECONNREFUSED 127.0.0.1' },
    stack: expect.stringMatching(/^Error: not counted\n +at /),
  });
});

test('is not ready while no certificate is valid, or while the HSM has none of their keys', async () => {
  const asked: (readonly string[])[] = [];
  let years = 0;
  server = await openApp(({ keys }) => ({
    now: () => new Date(Date.now() + years * 365 * 86_400_000),
    keys: {
      ...keys,
      async check(ids) {
        asked.push(ids);
        await keys.check(years === 0 ? ['00'.repeat(16)] : ids);
      },
    },
  }));
  const certificates = await server.data.store.certificates.list();
  expect(await get('/readyz')).toMatchObject({ status: 503, body: { message: 'not ready: hsm' } });
  expect(asked).toEqual([certificates.map(({ keyId }) => keyId)]);
  const [{ number } = { number: '' }] = certificates;
  await server.data.store.certificates.disable(number, true);
  pass(1100);
  await get('/readyz');
  expect(asked.at(-1)).toEqual(certificates.slice(1).map(({ keyId }) => keyId));
  years = 100;
  pass(1100);
  expect(await get('/readyz')).toMatchObject({ status: 503, body: { message: 'not ready: certificates' } });
});

test('counts answers and times them as Prometheus reads it', async () => {
  server = await openApp();
  await server.sign(goodRequest());
  await server.sign(goodRequest());
  await server.sign({ ...goodRequest(), padding: 'PSS' });
  await server.call({ method: 'GET', path: '/nothing' });
  const { body, headers } = await server.app.inject({ method: 'GET', url: '/metrics' });
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  for (const sample of [
    'answers_total{operation="sign",status="200"} 2',
    'answers_total{operation="sign",status="400"} 1',
    'answers_total{operation="other",status="404"} 1',
    'answer_seconds_bucket{le="+Inf",operation="sign"} 3',
    'answer_seconds_count{operation="sign"} 3',
    'signatures_under_way 0',
  ]) {
    expect(body).toContain(`\ncodesign_${sample}\n`);
  }
  expect(body.match(/_bucket\{le="[^"]+",operation="sign"\}/g)).toHaveLength(12);
  expect(body).not.toContain(server.credentials.accessKey);
});

test('shows Prometheus what may prevent signing: certificates, quotas, readiness and failed logins', async () => {
  server = await openApp();
  const { certificates, clients } = server.data.store;
  const [named, off] = [await server.addClient(), await server.addClient()];
  await clients.change(named.accessKey, { name: 'a "b"\u202e', quota: 5, monthlyQuota: 3 });
  await clients.change(off.accessKey, { quota: 0, disabled: true });
  await server.sign(goodRequest(), named);
  await server.sign(goodRequest(), { ...named, accessSecret: 'wrong' });
  await server.sign(goodRequest(), off);
  await server.call({ method: 'GET', path: '/' });
  await certificates.disable('1', true);

  const samples = (await metrics()).split('\n').filter((line) => /^codesign_(ready|cert|quota|failed)/.test(line));
  const end = (await certificates.find(NUMBER))?.notAfter.getTime() ?? 0;
  const failures = ['no-credentials', 'malformed', 'unknown-key', 'wrong-secret', 'disabled', 'expired'];
  const counted = ['client wrong-secret', 'client disabled', 'viewer no-credentials'];
  const labelsOf = (name: string, { accessKey }: Credentials, period: string) =>
    `{client="${name}",key="${accessKey.slice(0, 12)}",period="${period}"}`;
  const [total, month] = ['total', 'month'].map((period) => labelsOf('a \\"b\\"\\\\u202e', named, period));
  const free = ['total', 'month'].map((period) => labelsOf('', server.credentials, period));
  expect(samples.toSorted()).toEqual(
    [
      ...['database', 'certificates', 'hsm'].map((check) => `codesign_ready{check="${check}"} 1`),
      `codesign_certificate_end_seconds{certificate="${NUMBER}"} ${end / 1000}`,
      ...[`codesign_quota_used${total} 1`, `codesign_quota_used${month} 1`],
      ...[`codesign_quota_left${total} 4`, `codesign_quota_left${month} 2`],
      ...free.map((labels) => `codesign_quota_used${labels} 0`),
      ...['client', 'viewer'].flatMap((kind) =>
        failures.map((failure) => {
          const count = Number(counted.includes(`${kind} ${failure}`));
          return `codesign_failed_logins_total{kind="${kind}",failure="${failure}"} ${count}`;
        }),
      ),
    ].toSorted(),
  );
});

test('shows each metric that the example of alert rules names', async () => {
  server = await openApp();
  await server.data.store.clients.change(server.credentials.accessKey, { quota: 1 });
  await server.sign(goodRequest());
  const rules = await readFile(new URL('../../deploy/alerts.yml', import.meta.url), 'utf8');
  const expressions = [...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, expr]) => expr).join('\n');
  const named = new Set(expressions.match(/\b(codesign|nodejs|process)_\w+/g));
  const shown = [...(await metrics()).matchAll(/^(\w+)[{ ]|^# TYPE (\w+) /gm)].map(
    ([, sample, typed]) => sample ?? typed,
  );
  expect(named.size).toBeGreaterThan(9);
  expect([...named].filter((name) => !shown.includes(name))).toEqual([]);
});

test('logs a warning about certificates that end within 30 days, and about quotas with little left', async () => {
  server = await openApp();
  const { store, folder: data } = server.data;
  const { certificate } = await ownTls(data, [], new Date());
  const end = (await store.certificates.find(NUMBER))?.notAfter.getTime() ?? 0;
  await store.certificates.disable('1', true);
  await store.clients.change(server.credentials.accessKey, { name: 'builds', quota: 10 });
  const lines = async (time: number) => {
    const before = server.log().length;
    await lookAhead(server.app.log, certificate, store, new Date(time));
    return server.log().slice(before);
  };
  const line = (level: number, fields: object) => expect.objectContaining({ level, ...fields });
  const validity = { outcome: 'certificate-validity', certificate: NUMBER, notAfter: new Date(end).toISOString() };
  const quota = { outcome: 'quota', client: 'builds', period: 'total', used: 0, quota: 10, left: 10 };
  expect(await lines(Date.now())).toEqual([line(30, quota)]);
  expect(await lines(end - 30 * DAY - 1)).not.toContainEqual(line(40, validity));
  const msg = 'a code-signing certificate expires soon: run `codesign-admin certificate request`, then `import`';
  expect(await lines(end - 30 * DAY + 1)).toContainEqual(line(40, { ...validity, msg }));
  expect(await lines(end + 1)).toContainEqual(line(50, validity));
  for (let left = 9; left >= 0; left--) await server.sign(goodRequest());
  expect(await lines(Date.now())).toEqual([line(40, { ...quota, used: 10, left: 0 })]);
  await store.clients.change(server.credentials.accessKey, { disabled: true });
  expect(await lines(Date.now())).toEqual([]);
});

test('more signature requests than may wait are rejected with 503, and never reach the HSM', async () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let requested = 0;
  server = await openApp(({ keys }) => ({
    sessions: 1,
    waiting: 1,
    keys: {
      ...keys,
      async find(id) {
        requested += 1;
        await opened;
        return await keys.find(id);
      },
    },
  }));
  const answers: Awaited<ReturnType<typeof server.sign>>[] = [];
  const calls = Array.from({ length: 5 }, async () => answers.push(await server.sign(goodRequest())));
  // All five have arrived by then: one is at the HSM, and one waits.
  await expect.poll(() => answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  for (const refused of answers) {
    expect(refused).toMatchObject({ headers: { 'retry-after': '1' }, body: { code: 503, data: null } });
  }
  open();
  await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 200, 200]);
  expect(requested).toBe(2);
  expect(await server.counted()).toBe(2);
  expect(server.log()).toContainEqual(expect.objectContaining({ operation: 'sign', reason: 'busy', status: 503 }));
  expect((await server.sign(goodRequest())).body.code).toBe(0);
});

test('a client with many callers does not delay the call of another client', async () => {
  server = await openApp(() => ({ sessions: 1 }));
  const modest = await server.addClient();
  const greedy = Array.from({ length: 30 }, () => server.sign(goodRequest()));
  expect((await server.sign(goodRequest(), modest)).status).toBe(200);
  expect(server.log().filter(({ outcome }) => outcome === 'signed').length).toBeLessThan(10);
  await Promise.all(greedy);
});

test('logs the address of a client that left before its handshake failed', async () => {
  server = await openApp();
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const client = connectTcp((server.app.server.address() as AddressInfo).port, '127.0.0.1');
  server.app.server.once('connection', () => {
    client.write(INTERNAL_ERROR_ALERT);
    client.resetAndDestroy();
  });
  await once(server.app.server, 'tlsClientError');
  await new Promise((resolve) => setImmediate(resolve));
  const failure = { level: 40, outcome: 'tls-failed', remoteAddress: '127.0.0.1' };
  expect(server.log()).toContainEqual(expect.objectContaining(failure));
});

test.skipIf(process.platform === 'win32')(
  'reads its TLS certificate again on SIGHUP, keeps it where that fails, and continues without a reader of its log',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'codesign-tls-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [pem, data, rsa] = [join(folder, 'tls.pem'), join(folder, 'data'), join(folder, 'rsa')];
    const files = dataFolder(data);
    await copyData(data, 2048);
    const newCertificate = async () => {
      await rm(files.tls.server, { force: true });
      await ownTls(files, [], new Date());
      await copyFile(files.tls.server, pem);
    };
    await newCertificate();
    const running = await startServer({ data, args: ['--tls-cert', pem, '--tls-key', pem] });
    const fingerprint = async () => {
      const port = Number(new URL(running.baseUrl).port);
      const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const hangUp = async (line: string) => {
      const before = running.log().split(line).length;
      running.process.kill('SIGHUP');
      await vi.waitUntil(() => running.log().split(line).length > before, { timeout: 20_000 });
    };
    const first = await fingerprint();
    await newCertificate();
    expect(await fingerprint()).toBe(first);
    await hangUp('"tls-reloaded"');
    const second = await fingerprint();
    expect(second).not.toBe(first);
    const selfSigned =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -addext subjectAltName=IP:127.0.0.1';
    openssl([...selfSigned.split(' '), '-days', '9', '-keyout', `${rsa}.key`, '-out', `${rsa}.crt`]);
    const certificate = await readFile(`${rsa}.crt`, 'utf8');
    const mismatch = certificate + (await readFile(pem, 'utf8')).replace(/^.*?(?=-+BEGIN PRIV)/s, '');
    for (const unusable of ['damaged', mismatch]) {
      await writeFile(pem, unusable);
      await hangUp('"tls-kept"');
      expect(await fingerprint()).toBe(second);
    }
    expect(running.log()).not.toContain('"tls-validity"');
    await writeFile(pem, certificate + (await readFile(`${rsa}.key`, 'utf8')));
    await hangUp('"tls-validity"'); // it ends in nine days
    expect(await fingerprint()).not.toBe(second);

    // TLS 1.2 is the oldest that is spoken, after reading again as before. Without a `minVersion` the client has no
    // version left, and fails before it sends a greeting.
    const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const old = request(`${running.baseUrl}/healthz`, { rejectUnauthorized: false, ...versions });
    await expect(once(old, 'response')).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });

    running.process.stdout?.destroy();
    running.process.stderr?.destroy();
    for (let number = 0; number < 5; number++) {
      const asked = request(`${running.baseUrl}/nothing`, { rejectUnauthorized: false }).end(); // leaves a line in the log
      const [response] = await once(asked, 'response');
      expect(response.resume().statusCode).toBe(404);
    }
    expect(await running.stop()).toBe(0);
  },
);
