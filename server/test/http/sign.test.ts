import { createHash, createPublicKey, verify, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIGEST_ALGORITHMS, DIGEST_LENGTH } from '../../../src/crypto/algorithms.ts';
import { goodRequest, NUMBER, openApp, type TestApp } from '../support/in-process.ts';

let server: TestApp;
beforeAll(async () => {
  server = await openApp();
});
afterAll(() => server.close());

const CONTENT = Buffer.from('what is to be signed');

async function publicKey() {
  const certificate = await server.data.store.certificates.find(NUMBER);
  return createPublicKey(
    new X509Certificate(certificate?.chain ?? '').publicKey.export({ format: 'pem', type: 'spki' }),
  );
}

describe('a request that keeps to the contract', () => {
  test.each(DIGEST_ALGORITHMS)('is signed with PKCS#1 v1.5 over a %s digest', async (algorithm) => {
    const digest = createHash(algorithm).update(CONTENT).digest('base64');
    const { status, body, headers } = await server.sign({ ...goodRequest(), digest, algorithm });
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(body).toMatchObject({ code: 0, message: expect.any(String) });
    expect(Object.keys(body.data ?? {}).sort()).toEqual(['id', 'signature']);
    const signature = Buffer.from(body.data?.signature ?? '', 'base64');
    expect(signature).toHaveLength(256);
    expect(verify(algorithm, CONTENT, await publicKey(), signature)).toBe(true);
  });

  test('leaves a record of who requested what, before it is answered', async () => {
    const extra = { platform: 'linux', signing_filename: 'app.exe', signing_filesize: 4096 };
    const from = Date.now();
    const { body } = await server.sign({ ...goodRequest(), extra });
    const record = await server.data.store.records.find(body.data?.id ?? '');
    expect(record).toMatchObject({
      clientId: server.credentials.clientId,
      certificate: NUMBER,
      algorithm: 'SHA256',
      extra,
      counted: true,
      report: undefined,
    });
    expect(Buffer.from(record?.digest ?? []).equals(Buffer.alloc(32, 7))).toBe(true);
    expect(record?.signedAt.getTime()).toBeGreaterThanOrEqual(from);
    expect(record?.signedAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('keeps an extra of 4 KiB, and does not count members that it ignores', async () => {
    const extra = { hostname: 'x'.repeat(4096 - '{"hostname":""}'.length) };
    const { status, body } = await server.sign({ ...goodRequest(), extra: { ...extra, more: 'x'.repeat(5000) } });
    expect(status).toBe(200);
    expect((await server.data.store.records.find(body.data?.id ?? ''))?.extra).toEqual(extra);
  });

  test('leaves one line in the log, with neither digest, signature nor extra', async () => {
    const before = server.log().length;
    const request = {
      ...goodRequest(),
      digest: Buffer.alloc(32, 0xa5).toString('base64'),
      extra: { hostname: 'very-secret-host' },
    };
    const { body } = await server.sign(request);
    const lines = server.log().slice(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      operation: 'sign',
      outcome: 'signed',
      record: body.data?.id,
      certificate: NUMBER,
    });
    expect(server.logText()).not.toContain(request.digest);
    expect(server.logText()).not.toContain(Buffer.alloc(32, 0xa5).toString('hex'));
    expect(server.logText()).not.toContain(body.data?.signature);
    expect(server.logText()).not.toContain('very-secret-host');
  });

  test('creates a record for every call, also for the same digest', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.sign(goodRequest())));
    expect(new Set(answers.map(({ body }) => body.data?.id)).size).toBe(20);
    expect(new Set(answers.map(({ body }) => body.data?.signature)).size).toBe(1);
  });

  test('may hold members that the contract does not name', async () => {
    const { body } = await server.sign({ ...goodRequest(), more: 1, extra: { more: { deep: true } } });
    expect(body.code).toBe(0);
    expect((await server.data.store.records.find(body.data?.id ?? ''))?.extra).toEqual({});
  });
});

describe('the order of the checks', () => {
  const BREAK = {
    code: { code: 'nobody' },
    digest: { digest: 'not base64' },
    algorithm: { algorithm: 'SHA384' },
    padding: { padding: 'PSS' },
    extra: { extra: 7 },
  } as const;
  const names = Object.keys(BREAK) as (keyof typeof BREAK)[];

  // Every set of broken fields: the first of them in the contract's order is the one that is named.
  const sets = Array.from({ length: 2 ** names.length - 1 }, (_, index) =>
    names.filter((__, bit) => (index + 1) & (1 << bit)),
  );
  test.each(sets.map((set) => [set.join(' and '), set] as const))(
    'with %s wrong, names the first',
    async (_title, set) => {
      const request = Object.assign(goodRequest(), ...set.map((name) => BREAK[name]));
      const { status, body } = await server.sign(request);
      expect(status).toBe(400);
      expect(body).toEqual({ code: 400, message: expect.any(String), data: null });
      expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'refused', reason: set[0] });
    },
  );
});

describe('rejects as a parameter error', () => {
  const refusals = async (request: unknown, reason: string) => {
    const before = await server.counted();
    const { status, body } = await server.sign(request);
    expect({ status, code: body.code, data: body.data }).toEqual({ status: 400, code: 400, data: null });
    expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'refused', reason });
    expect(await server.counted()).toBe(before);
  };

  test.each([null, [], 'text', 7, true])('the body %j', (body) => refusals(body, 'body'));

  test.each([undefined, null, 7, '', ' rsa-2048', 'RSA-2048', ['rsa-2048'], "' or 1=1 --", '\u0000'])(
    'the code %j',
    (code) => refusals({ ...goodRequest(), code }, 'code'),
  );

  const good = Buffer.alloc(32, 0xfb).toString('base64');
  test.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', [good]],
    ['without its padding', good.replace('=', '')],
    ['with too much padding', `${good}=`],
    ['in the alphabet for addresses', Buffer.alloc(32, 0xfb).toString('base64url')],
    ['with a line break inside', `${good.slice(0, 20)}\n${good.slice(20)}`],
    ['with a blank before', ` ${good}`],
    ['with a line break after', `${good}\n`],
    ['with bits that no byte has', `${good.slice(0, -2)}t=`],
    ['with a character of no alphabet', `*${good.slice(1)}`],
    ['as a data address', `data:;base64,${good}`],
  ])('a digest %s', (_name, digest) => refusals({ ...goodRequest(), digest }, 'digest'));

  test.each(
    DIGEST_ALGORITHMS.flatMap((algorithm) =>
      [0, 1, 19, 20, 21, 31, 32, 33, 48, 64, 65].map((length) => ({ algorithm, length })),
    ),
  )('a digest of $length bytes as $algorithm, unless that is its length', async ({ algorithm, length }) => {
    const request = { ...goodRequest(), algorithm, digest: Buffer.alloc(length, 3).toString('base64') };
    if (length === DIGEST_LENGTH[algorithm]) expect((await server.sign(request)).body.code).toBe(0);
    else await refusals(request, 'algorithm');
  });

  test.each([undefined, null, 256, 'sha256', 'SHA-256', 'SHA224', 'MD5', ['SHA256'], 'toString'])(
    'the algorithm %j',
    (algorithm) => refusals({ ...goodRequest(), algorithm }, 'algorithm'),
  );

  test('a hexadecimal digest: it decodes, but to a length of no algorithm', () =>
    refusals({ ...goodRequest(), digest: 'ab'.repeat(32) }, 'algorithm'));

  test.each([undefined, null, 1, 'PKCS1v15', 'pkcs1', 'PSS', ['PKCS1']])('the padding %j', (padding) =>
    refusals({ ...goodRequest(), padding }, 'padding'),
  );

  // Each in an array of its own, since one that is an array would be treated as arguments.
  test.each([
    [null],
    ['text'],
    [[]],
    [[{ platform: 'linux' }]],
    [{ platform: 7 }],
    [{ version: null }],
    [{ revision: {} }],
    [{ time: 1700000000 }],
    [{ hostname: [] }],
    [{ hostname: 'x'.repeat(4096) }],
    [{ hostname: 'ä'.repeat(2048) }],
    [{ hostname: 'x'.repeat(2048), revision: '\0'.repeat(400) }],
    [{ signing_filename: false }],
    [{ signing_filesize: '12' }],
    [{ signing_filesize: 1.5 }],
  ])('the extra %j', (extra) => refusals({ ...goodRequest(), extra }, 'extra'));
});

describe('what an operator allows a client', () => {
  test('a certificate that is not allowed is to it as good as none', async () => {
    const client = await server.addClient();
    await server.data.store.clients.change(client.accessKey, { certificates: ['1'] });
    const other = await server.sign(goodRequest(), client);
    const none = await server.sign({ ...goodRequest(), code: 'nobody' }, client);
    expect(other).toMatchObject({ status: 400, body: none.body });
    await server.data.store.clients.change(client.accessKey, { certificates: ['1', NUMBER] });
    expect((await server.sign(goodRequest(), client)).body.code).toBe(0);
  });

  test('an algorithm that is not allowed is rejected with 403, and counts nothing', async () => {
    const client = await server.addClient();
    await server.data.store.clients.change(client.accessKey, { algorithms: ['SHA384', 'SHA512'] });
    const { status, body } = await server.sign(goodRequest(), client);
    expect({ status, ...body }).toEqual({ status: 403, code: 403, message: expect.any(String), data: null });
    expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'refused', reason: 'not-allowed' });
    expect(await server.counted(client)).toBe(0);
    const digest = Buffer.alloc(64, 7).toString('base64');
    expect((await server.sign({ ...goodRequest(), digest, algorithm: 'SHA512' }, client)).body.code).toBe(0);
  });
});

describe('a certificate outside its validity', () => {
  test.each([
    ['not begun', -366],
    ['ended', 4 * 366],
  ])('that has %s is not a valid one', async (_name, days) => {
    const now = () => new Date(Date.now() + days * 24 * 60 * 60 * 1000);
    await server.close();
    server = await openApp(() => ({ now }));
    const { body } = await server.sign(goodRequest());
    expect(body.code).toBe(400);
    expect(server.log().at(-1)).toMatchObject({ reason: 'code', certificate: NUMBER });
  });
});
