import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openssl } from '../../../test/support/programs/openssl.ts';
import type { ServerDependencies } from '../../src/http/app.ts';
import { goodRequest, openApp, type TestApp } from '../support/in-process.ts';
import { ask, query, textOf } from '../support/timestamps.ts';

let server: TestApp;
afterEach(() => server.close());

const openWith = (replaced: (real: ServerDependencies) => Partial<ServerDependencies>) => openApp(replaced, true);

type Sign = NonNullable<ServerDependencies['timestamps']>['authority']['key']['sign'];

/** An authority whose key does this, with the real one at hand. */
function signingBy(make: (real: Sign) => Sign) {
  return ({ timestamps }: ServerDependencies): Partial<ServerDependencies> => {
    if (timestamps === undefined) return {};
    const { authority } = timestamps;
    const key = { ...authority.key, sign: make(authority.key.sign) };
    return { timestamps: { ...timestamps, authority: { ...authority, key } } };
  };
}

test('the time is the moment of the answer, in whole seconds', async () => {
  const now = new Date(Date.now() + 12 * 60 * 60 * 1000);
  now.setUTCMilliseconds(987);
  server = await openWith(() => ({ now: () => now }));
  const { body } = await ask(server, query());
  const digits = now.toISOString().replace(/[-:T]|\..*$/g, '');
  expect(body.includes(`\x18\x0f${digits}Z`)).toBe(true);
});

test('gives no time that its certificate does not vouch for', async () => {
  server = await openWith(() => ({ now: () => new Date('2001-01-01T00:00:00Z') }));
  const { body } = await ask(server, query());
  expect(textOf(body)).toContain("Failure info: the TSA's time source is not available\n");
  expect(server.log()).toContainEqual(expect.objectContaining({ reason: 'timeNotAvailable' }));
});

test('without an authority, the address does not exist', async () => {
  server = await openApp();
  expect(await ask(server, query())).toMatchObject({ status: 404 });
  expect(await ask(server, undefined, '', 'GET')).toMatchObject({ status: 404 });
});

test('an HSM that fails is a fault of the server, and the next request is served', async () => {
  let broken = true;
  server = await openWith(
    signingBy(() => async () => {
      if (broken) throw new Error('CKR_DEVICE_ERROR');
      return Buffer.alloc(384);
    }),
  );
  const answer = await ask(server, query());
  expect({ status: answer.status, body: JSON.parse(answer.body.toString()) }).toEqual({
    status: 500,
    body: { code: 500, message: 'internal error', data: null },
  });
  expect(server.log()).toContainEqual(expect.objectContaining({ operation: 'timestamp', outcome: 'failed' }));
  broken = false;
  expect(await ask(server, query())).toMatchObject({ status: 200 });
});

test('a flood waits in a line of its own, with an end: signatures are made during that time, and what is too much may come again', async () => {
  const gate = { open: () => {} };
  const opened = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  let busy = 0;
  server = await openWith(
    signingBy(() => async () => {
      busy += 1;
      await opened;
      return Buffer.alloc(384);
    }),
  );
  const flood = Array.from({ length: 300 }, () => ask(server, query()));
  const refused = await Promise.race(flood); // those are answered at once
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect((await server.sign(goodRequest())).status).toBe(200);
  expect(busy).toBe(1);
  gate.open();
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(257); // one in the HSM, 256 waiting
  expect(statuses.filter((status) => status === 503)).toHaveLength(43);
});

test('nothing is signed for a client that disconnected while it waited', async () => {
  const gate = { open: () => {} };
  const opened = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  let signed = 0;
  server = await openWith(
    signingBy(() => async () => {
      signed += 1;
      await opened;
      return Buffer.alloc(384);
    }),
  );
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  const first = ask(server, query());
  while (signed === 0) await new Promise((resolve) => setImmediate(resolve));
  let arrived = 0;
  let left = 0;
  server.app.server.on('request', (_request, response) => {
    arrived += 1;
    response.once('close', () => {
      left += 1;
    });
  });
  const { port } = server.app.server.address() as AddressInfo;
  const leaving = request({
    ...{ host: '127.0.0.1', port, path: '/tsa', method: 'POST', rejectUnauthorized: false, agent: false },
    headers: { 'content-type': 'application/timestamp-query' },
  });
  leaving.on('error', () => {}); // it hangs up itself
  leaving.end(query());
  while (arrived === 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setTimeout(resolve, 50)); // its body is there too
  leaving.destroy();
  while (left === 0) await new Promise((resolve) => setImmediate(resolve));
  gate.open();
  expect(await first).toMatchObject({ status: 200 });
  await expect.poll(() => server.log().at(-1)).toMatchObject({ operation: 'timestamp', outcome: 'abandoned' });
  expect(signed).toBe(1);
});

test('what is signed is the digest of the attributes, by SHA-256', async () => {
  const asked: unknown[] = [];
  server = await openWith(
    signingBy((real) => (algorithm, digest) => {
      asked.push([algorithm, digest.length]);
      return real(algorithm, digest);
    }),
  );
  const { body } = await ask(server, query());
  const token = openssl(['ts', '-reply', '-in', 'reply', '-token_out'], { reply: body });
  const parsed = openssl(['asn1parse', '-inform', 'DER', '-in', 'token'], { token }).toString();
  expect(asked).toEqual([['SHA256', 32]]);
  // The four attributes, in DER's order; no certificates, since none were requested.
  const names = /contentType|signingTime|messageDigest|id-smime-aa-signingCertificateV2/g;
  expect(parsed.match(names)).toEqual([
    'contentType',
    'signingTime',
    'messageDigest',
    'id-smime-aa-signingCertificateV2',
  ]);
  expect(parsed).not.toContain('X509v3');
});
