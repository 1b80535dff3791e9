import http, { type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Secret } from '../../../../src/secrets/secret.ts';
import { createSigningService } from '../../../../src/service/client.ts';
import type { SignRequest } from '../../../../src/service/signing-service.ts';
import { createStopSignal } from '../../../../src/signing/run.ts';
import { openGate } from '../../../../src/signing/service/gate.ts';
import { ACCESS_KEY, ACCESS_SECRET } from '../../../support/services/service-client.ts';
import { listen, openHttp } from '../../http/support/http-setting.ts';

/** Rejects the fourth request, and answers the others under way after that. */
async function startThrottling(headers: () => Record<string, string>) {
  const seen: { readonly digest: string; readonly at: number; readonly status: number }[] = [];
  let reject: () => void = () => undefined;
  const rejected = new Promise<void>((resolve) => {
    reject = resolve;
  });
  const answer = async (body: string, response: ServerResponse): Promise<void> => {
    const status = seen.length === 3 ? 429 : 200;
    seen.push({ digest: JSON.parse(body).digest, at: performance.now(), status });
    if (status === 429) reject();
    else await rejected.then(() => pause(100));
    const data = status === 200 ? { id: 'record', signature: Buffer.alloc(256, 1).toString('base64') } : null;
    response.writeHead(status, status === 429 ? headers() : {});
    response.end(JSON.stringify({ code: status === 200 ? 0 : status, message: 'text', data }));
  };
  const server = http.createServer((request, response) => {
    request.toArray().then(
      (parts) => answer(parts.join(''), response),
      () => undefined,
    );
  });
  return { baseUrl: new URL(`http://127.0.0.1:${await listen(server)}`), seen };
}

async function signAll(baseUrl: URL, count: number, most: number) {
  const service = createSigningService({
    baseUrl,
    credentials: { accessKey: ACCESS_KEY, accessSecret: new Secret(ACCESS_SECRET) },
    http: openHttp(),
    timeoutMilliseconds: 10_000,
  });
  const stop = createStopSignal();
  const gate = openGate({ most, needsTimestamp: false, stop });
  const first = await gate.enter();
  first.confirm({ stamped: false });
  first[Symbol.dispose]();
  const signOne = async (index: number) => {
    using permit = await gate.enter();
    const request = {
      code: '1',
      algorithm: 'SHA256',
      digest: new Uint8Array(32).fill(index),
      beforeSend: async () => permit.send(),
      beforeRetry: (error) => permit.repeat(error),
    } satisfies SignRequest;
    await service.sign(request, stop.signal);
    permit.confirm({ stamped: false });
  };
  await Promise.all(Array.from({ length: count }, (_, index) => signOne(index)));
}

test.each<[string, () => Record<string, string>, number]>([
  ['in seconds', () => ({ 'retry-after': '1' }), 1000],
  ['in a date', () => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() }), 900],
  ['not given, so the back-off', () => ({}), 250],
])('Retry-After %s: honoured by all that wait, not only by the call that was rejected', async (_, headers, least) => {
  const { baseUrl, seen } = await startThrottling(headers);
  await signAll(baseUrl, 12, 4);
  const signed = seen.filter(({ status }) => status === 200).map(({ digest }) => digest);
  expect([signed.length, new Set(signed).size]).toEqual([12, 12]);
  const throttled = seen.find(({ status }) => status === 429)?.at ?? 0;
  const after = seen.slice(4).map(({ at }) => at - throttled);
  expect(after).toHaveLength(9);
  expect(Math.min(...after)).toBeGreaterThanOrEqual(least);
});
