/** A service that throttles: fewer calls concurrently, more again afterwards, each wait honoured by all, nothing signed twice. */

import http, { type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/secrets/secret.ts';
import { createSigningService } from '../../../../src/service/client.ts';
import type { SigningService, SignRequest } from '../../../../src/service/signing-service.ts';
import { createStopSignal } from '../../../../src/signing/run.ts';
import { openGate } from '../../../../src/signing/service/gate.ts';
import { ACCESS_KEY, ACCESS_SECRET } from '../../../support/services/service-client.ts';
import { listen, openHttp } from '../../http/support/http-setting.ts';

interface Seen {
  readonly digest: string;
  /** On performance.now(). */
  readonly at: number;
  /** Calls under way with it, itself among them. */
  readonly atOnce: number;
  readonly status: number;
}

/** What to answer with: a status, and header fields. */
type Answer = (seen: { readonly atOnce: number; readonly index: number }) => readonly [number, Record<string, string>?];

/** `milliseconds` of a signature, and of a refusal. `together`: so many are answered when the last of them has arrived. */
async function startThrottling(check: Answer, milliseconds: readonly [number, number] = [20, 20], together = 1) {
  const seen: Seen[] = [];
  let atOnce = 0;
  let allThere = (): void => undefined;
  const whenAllThere = new Promise<void>((resolve) => {
    allThere = resolve;
  });
  const answer = async (body: string, response: ServerResponse): Promise<void> => {
    atOnce += 1;
    const [status, headers] = check({ atOnce, index: seen.length });
    seen.push({ digest: JSON.parse(body).digest, at: performance.now(), atOnce, status });
    if (seen.length >= together) allThere();
    await whenAllThere;
    await pause(milliseconds[status === 200 ? 0 : 1]);
    atOnce -= 1;
    const data = status === 200 ? { id: 'record', signature: Buffer.alloc(256, 1).toString('base64') } : null;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ code: status === 200 ? 0 : status, message: 'text', data }));
  };
  const server = http.createServer((request, response) => {
    request.setEncoding('utf8');
    request.toArray().then(
      (parts) => answer(parts.join(''), response),
      () => undefined,
    );
  });
  return { baseUrl: new URL(`http://127.0.0.1:${await listen(server)}`), seen };
}

/** `hurry`: factor by which its waits are shortened. */
function open(baseUrl: URL, hurry = 1) {
  const waits: number[] = [];
  const service = createSigningService({
    baseUrl,
    credentials: { accessKey: ACCESS_KEY, accessSecret: new Secret(ACCESS_SECRET) },
    http: openHttp(),
    timeoutMilliseconds: 10_000,
    clock: {
      now: Date.now,
      random: () => 0,
      async sleep(wait, signal) {
        waits.push(wait);
        await pause(wait / hurry, undefined, signal === undefined ? {} : { signal });
      },
    },
  });
  return { service, waits };
}

/** As a run does that has a signature already. */
async function signAll(service: SigningService, count: number, most: number, signal?: AbortSignal) {
  const stop = createStopSignal();
  signal?.addEventListener('abort', () => stop.stop('the run was interrupted'));
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
    const record = await service.sign(request, stop.signal);
    permit.confirm({ stamped: false });
    return record;
  };
  return await Promise.allSettled(Array.from({ length: count }, (_, index) => signOne(index)));
}

const signedOnceEach = (seen: readonly Seen[], count: number): void => {
  const signed = seen.filter(({ status }) => status === 200).map(({ digest }) => digest);
  expect(signed).toHaveLength(count);
  expect(new Set(signed).size).toBe(count);
};

describe.each([429, 503])('%i', (status) => {
  test('once, for all that are under way: half as many concurrently, then more again, each signed once', async () => {
    // None of the first is answered before all have arrived.
    const { baseUrl, seen } = await startThrottling(({ index }) => [index < 8 ? status : 200], [20, 20], 8);
    const { service } = open(baseUrl, 20);
    const results = await signAll(service, 60, 8);
    expect(results.map(({ status: how }) => how)).toEqual(Array(60).fill('fulfilled'));
    signedOnceEach(seen, 60);
    expect(seen).toHaveLength(68);
    const peak = (from: number, to: number) => Math.max(...seen.slice(from, to).map(({ atOnce }) => atOnce));
    expect(peak(0, 8)).toBe(8);
    expect(peak(8, 12)).toBeLessThanOrEqual(4);
    // One more after four answers, after five more, six more and seven more.
    expect(peak(8, 20)).toBeLessThanOrEqual(6);
    expect(peak(40, 68)).toBeGreaterThan(4);
  });
});

describe('Retry-After', () => {
  test.each<[string, () => Record<string, string>, number]>([
    ['in seconds', () => ({ 'retry-after': '1' }), 1000],
    ['in a date', () => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() }), 900],
    ['not given, so the back-off', () => ({}), 250],
  ])('%s is honoured by all that wait, not only by the call that was rejected', async (_form, headers, least) => {
    // The others under way are answered after the refusal has arrived.
    const check: Answer = ({ index }) => (index === 3 ? [429, headers()] : [200]);
    const { baseUrl, seen } = await startThrottling(check, [100, 0]);
    const { service } = open(baseUrl);
    const results = await signAll(service, 12, 4);
    expect(results.map(({ status }) => status)).toEqual(Array(12).fill('fulfilled'));
    signedOnceEach(seen, 12);
    const throttled = seen.find(({ status }) => status === 429)?.at ?? 0;
    const after = seen.slice(4);
    expect(after).toHaveLength(9);
    expect(Math.min(...after.map(({ at }) => at)) - throttled).toBeGreaterThanOrEqual(least);
  });
});

test('calls that wait are not sent when the batch is stopped during that time', async () => {
  const { baseUrl, seen } = await startThrottling(({ index }) =>
    index === 0 ? [429, { 'retry-after': '60' }] : [200],
  );
  const { service } = open(baseUrl);
  const controller = new AbortController();
  const signing = signAll(service, 5, 1, controller.signal);
  await pause(200);
  controller.abort();
  for (const result of await signing)
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { code: expect.stringMatching(/^interrupted|not-attempted$/) },
    });
  expect(seen).toHaveLength(1);
});
