/** Authorities and many files: concurrent requests, retries, the order of authorities, and interruption. */

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { encode, sequence, smallInteger } from '../../../src/asn1/write.ts';
import type { PlainPostRequest } from '../../../src/http/http.ts';
import type { Failure, Outcome } from '../../../src/http/request.ts';
import { type AuthorityMode, startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { forAll } from '../../support/set-up.ts';
import { openHttp } from '../http/support/http-setting.ts';
import { answer, cannedHttp, failureOf, openAuthorities, SIGNATURE } from './support/open-authorities.ts';

const authority = await forAll(startTimestampAuthority());

const asked = (mode: AuthorityMode) => authority.requests.filter((request) => request.mode === mode).length;
const failure = (reason: Failure['reason']): Outcome => ({
  kind: 'failure',
  reason,
  mayHaveArrived: false,
  head: undefined,
  detail: `because of ${reason}`,
});

it('one authority gets as many as are allowed, and each authority its own', async () => {
  const underWay = new Map<string, number>();
  const most = new Map<string, number>();
  const http = cannedHttp(async ({ hostname }) => {
    const now = (underWay.get(hostname) ?? 0) + 1;
    underWay.set(hostname, now);
    most.set(hostname, Math.max(now, most.get(hostname) ?? 0));
    await pause(5);
    underWay.set(hostname, now - 1);
    return answer(404);
  });
  const authorities = openAuthorities(['http://a.example/', 'http://b.example/'], { http, concurrency: 3 });
  await Promise.allSettled(Array.from({ length: 12 }, () => authorities.stamp(SIGNATURE)));
  expect(Object.fromEntries(most)).toEqual({ 'a.example': 3, 'b.example': 3 });
});

describe('an authority that has failed for one file', () => {
  it.each(['refused', 'tls-untrusted', 'timed-out'] as const)(
    '(%s) is asked again when the others fail too, and first once it is well',
    async (reason) => {
      const order: string[] = [];
      let isWell = false;
      const http = cannedHttp(({ hostname }) => {
        order.push(hostname);
        return hostname === 'bad.example' && !isWell ? failure(reason) : answer(404);
      });
      const authorities = openAuthorities(['http://bad.example/', 'http://good.example/'], { http });
      const once = async (): Promise<readonly string[]> => {
        order.length = 0;
        expect((await failureOf(authorities)).message).toContain('http://good.example/: HTTP 404');
        return [...new Set(order)];
      };
      expect(await once()).toEqual(['bad.example', 'good.example']);
      expect(await once()).toEqual(['good.example', 'bad.example']);
      isWell = true;
      expect(await once()).toEqual(['good.example', 'bad.example']);
      expect(await once()).toEqual(['bad.example', 'good.example']);
    },
  );

  it('whose answer was wrong is asked first again: the next answer may be right', async () => {
    const before = asked('nonce-wrong');
    const authorities = openAuthorities([authority.urlOf('nonce-wrong'), authority.url]);
    for (let count = 0; count < 2; count += 1) await authorities.stamp(SIGNATURE);
    expect(asked('nonce-wrong') - before).toBe(2);
  });
});

describe('a failure that may pass', () => {
  const waitsOf = async (...outcomes: Outcome[]): Promise<readonly number[]> => {
    let attempts = 0;
    const http = cannedHttp(() => outcomes[Math.min(attempts++, outcomes.length - 1)] ?? answer(404));
    const authorities = openAuthorities(['http://a.example/'], { http });
    await failureOf(authorities);
    expect(attempts).toBe(authorities.waits.length + 1);
    return authorities.waits;
  };
  const busy = (retryAfter: string) => answer(429, '', { 'retry-after': retryAfter });

  it('is repeated, backing off, and not forever', async () => {
    const failures = (['refused', 'host-not-found', 'broken', 'unreachable'] as const).map(failure);
    for (const outcome of [answer(429), answer(500), answer(503), ...failures]) {
      expect(await waitsOf(outcome)).toEqual([250, 500, 1000]);
    }
  });

  it.each([
    'timed-out',
    'connect-timed-out',
    'tls-untrusted',
    'tls-failed',
    'too-large',
    'proxy-unauthorized',
  ] as const)('is not one of these: %s', async (reason) => {
    expect(await waitsOf(failure(reason))).toEqual([]);
  });

  it('is not retried sooner than the authority requests', async () => {
    expect(await waitsOf(busy('3'), busy('0'), answer(404))).toEqual([3000, 0]);
  });

  it('is not waited for longer than a minute, nor for more than a minute and a half in all', async () => {
    expect(await waitsOf(busy('3600'))).toEqual([60_000]);
    expect(await waitsOf(busy('40'))).toEqual([40_000, 40_000]);
  });

  describe('after a longer wait than 2 seconds', () => {
    const BUSY = 'http://busy.example/';

    it('is not waited for while another authority can be asked', async () => {
      const real = openHttp();
      const order: string[] = [];
      const post = async (request: PlainPostRequest): Promise<Outcome> => {
        order.push(request.url.href);
        return request.url.href === BUSY ? busy('30') : await real.post(request);
      };
      const authorities = openAuthorities([BUSY, authority.url], { http: { ...real, post } });
      for (let count = 0; count < 2; count += 1) await authorities.stamp(SIGNATURE);
      expect({ order, waits: authorities.waits }).toEqual({ order: [BUSY, authority.url, authority.url], waits: [] });
    });

    it('is waited for when the others have failed', async () => {
      const order: string[] = [];
      const waits = ['30', '29'];
      const http = cannedHttp(({ hostname }) => {
        order.push(hostname);
        const wait = hostname === 'busy.example' ? waits.shift() : undefined;
        return wait === undefined ? answer(404) : busy(wait);
      });
      const authorities = openAuthorities([BUSY, 'http://other.example/'], { http });
      const error = await failureOf(authorities);
      expect(order).toEqual(['busy.example', 'other.example', 'busy.example', 'busy.example']);
      expect(authorities.waits).toEqual([29_000]);
      expect(error.message).toContain(
        'http://other.example/: HTTP 404; http://busy.example/: HTTP 404 after 2 attempts',
      );
    });
  });

  it('has the status of a head whose body never came whole', async () => {
    const head = { status: 503, headers: new Map([['retry-after', '2']]) };
    const outcome: Outcome = { kind: 'failure', reason: 'broken', mayHaveArrived: true, head, detail: 'cut off' };
    expect(await waitsOf(outcome, answer(404))).toEqual([2000]);
  });
});

it('an interruption ends a wait between attempts immediately', async () => {
  const http = cannedHttp(() => answer(429, '', { 'retry-after': '60' }));
  const authorities = openAuthorities(['http://a.example/'], { http, realClock: true });
  const error = await failureOf(authorities, AbortSignal.timeout(50));
  expect(error).toMatchObject({ code: 'timestamp-interrupted' });
});

/** PKIStatusInfo: rejection, with words. */
function rejectionWith(words: string): Uint8Array {
  return sequence(sequence(smallInteger(2), sequence(encode(0x0c, Buffer.from(words)))));
}

describe('shown text', () => {
  it('of an address has no user information and no query', async () => {
    const http = cannedHttp(() => answer(404));
    const error = await failureOf(openAuthorities(['http://user:secret@a.example/ts?key=secret#secret'], { http }));
    expect(error.message).toContain('http://a.example/ts: HTTP 404');
    expect(error.message).not.toMatch(/secret|user/);
  });

  it('of an authority’s words cannot move the cursor', async () => {
    const http = cannedHttp(() => answer(200, rejectionWith('\x1b[2J::error::no\n')));
    const { message } = await failureOf(openAuthorities(['http://a.example/'], { http }));
    expect(message).toContain('it rejects the request: rejection (\\x1b[2J:\\x3aerror::no\\n)');
    expect(message).not.toContain('\x1b');
  });

  it('of an authority’s words and redirects has no key of its address, in any form', async () => {
    const key = 'K3y-of-an-account';
    const forms = [key, key.toUpperCase(), Buffer.from(`x${key}`).toString('base64'), [...Buffer.from(key)].join(' ')];
    for (const form of forms) {
      const location = `http://b.example/ts?key=${form}`;
      for (const given of [answer(200, rejectionWith(`no: ${form}`)), answer(302, '', { location })]) {
        const http = cannedHttp(() => given);
        const { message } = await failureOf(openAuthorities([`http://a.example/ts?key=${key}`], { http }));
        expect(message).toMatch(/(?:no: |ts|key=)(?:75 )?(?:.{0,3}\[secret\].{0,3}|…)\)?$/);
      }
    }
  });
});
