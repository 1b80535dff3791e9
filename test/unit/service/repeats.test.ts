/** What is repeated, how often and after what wait: sign only where nothing can have been signed, report-sign always. */

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LONGEST_WAIT } from '../../../src/http/retry.ts';
import { MAX_ATTEMPTS } from '../../../src/service/call.ts';
import type { MisbehavingServiceOptions, ServiceMode } from '../../support/services/misbehaving-service.ts';
import { SIGN_REQUEST } from '../../support/services/service-client.ts';
import { openMisbehaving } from './misbehaving-client.ts';

const start = (mode: ServiceMode, options: MisbehavingServiceOptions = {}, timeoutMilliseconds?: number) =>
  openMisbehaving(mode, options, { timeoutMilliseconds });

describe('sign', () => {
  test.each<[ServiceMode, readonly number[]]>([
    ['throttled', [250, 500]],
    ['throttled-for-no-time', [0, 0]],
    ['unavailable-enveloped', [250, 500]],
    ['unavailable-without-envelope', [0, 0]],
  ])('%s: repeated, then good', async (mode, expected) => {
    const { service, waits, misbehaving } = await start(mode, { times: 2 });
    await expect(service.sign(SIGN_REQUEST)).resolves.toMatchObject({ id: 'record-3' });
    expect(misbehaving.signRequests()).toBe(3);
    expect(waits).toEqual(expected);
  });

  test('a 503 without envelope and Retry-After is not repeated: a gateway answers so after the service signed', async () => {
    const { service, misbehaving } = await start('unavailable');
    await expect(service.sign(SIGN_REQUEST)).rejects.toMatchObject({ httpStatus: 503, mayHaveBeenCounted: true });
    expect(misbehaving.signRequests()).toBe(1);
  });

  test.each<[ServiceMode, number, number]>([
    ['throttled-for-seconds', 7000, 7000],
    ['throttled-for-an-hour', LONGEST_WAIT, LONGEST_WAIT],
    ['throttled-until-date', 18_001, 20_000],
    ['throttled-several-times', 9000, 9000],
  ])('%s: waits for %i to %i ms', async (mode, least, most) => {
    const { service, waits } = await start(mode, { times: 1 });
    await service.sign(SIGN_REQUEST);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(least);
    expect(waits[0]).toBeLessThanOrEqual(most);
  });

  test('an unreachable service is called again, since nothing was sent', async () => {
    const { service, waits, misbehaving } = await start('good');
    await misbehaving.stop();
    await expect(service.sign(SIGN_REQUEST)).rejects.toMatchObject({ code: 'service-unreachable' });
    expect(waits).toEqual([250, 500]);
  });

  test('an interrupt ends the wait between attempts', async () => {
    const { service, misbehaving } = await openMisbehaving('throttled-for-an-hour', {}, { realClock: true });
    const interrupt = new AbortController();
    const failing = expect(service.sign(SIGN_REQUEST, interrupt.signal)).rejects.toMatchObject({ code: 'interrupted' });
    while (misbehaving.signRequests() === 0) await pause(5);
    await pause(300);
    interrupt.abort();
    await failing;
    expect(misbehaving.signRequests()).toBe(1);
  });
});

describe('report-sign', () => {
  const once = ['breaks-during-body', 'hangs', 'unavailable'] as const;
  test.each(once)('%s: repeated, then good', async (mode) => {
    const { service, misbehaving } = await start(
      mode,
      { operation: 'report-sign', times: 2 },
      mode === 'hangs' ? 500 : undefined,
    );
    await service.report('record-1', 1);
    expect(misbehaving.requests()).toHaveLength(3);
  });

  test.each<[ServiceMode, string, number]>([
    ['breaks-before-answer', 'report-unanswered', MAX_ATTEMPTS.unanswered],
    ['server-error', 'http-error', MAX_ATTEMPTS.unanswered],
    ['throttled', 'throttled', MAX_ATTEMPTS.throttled],
    ['unauthorized-401', 'unauthorized', 1],
    ['not-found', 'http-error', 1],
    ['refused', 'refused', 1],
    ['html', 'malformed-answer', 1],
  ])('%s forever: bounded', async (mode, code, attempts) => {
    const { service, misbehaving } = await start(mode, { operation: 'report-sign' });
    await expect(service.report('record-1', 2)).rejects.toMatchObject({ code });
    expect(misbehaving.requests()).toHaveLength(attempts);
  });
});
