import { expect, test } from 'vitest';
import type { SignRequest } from '../../../../src/service/signing-service.ts';
import { createStopSignal } from '../../../../src/signing/run.ts';
import { openGate } from '../../../../src/signing/service/gate.ts';
import { answer, type Misbehaviour, success } from '../../../support/services/answering.ts';
import { SIGN_REQUEST } from '../../../support/services/service-client.ts';
import { openMisbehaving } from '../../service/misbehaving-client.ts';

const AT_ONCE = 4;

/** Answers the others under way after that. */
function rejectingFirst(headers: () => Record<string, string>): Misbehaviour {
  let isFirst = true;
  return async (exchange) => {
    if (isFirst) {
      isFirst = false;
      return answer(exchange, 429, { code: 429, message: 'text', data: null }, headers());
    }
    await exchange.pause(100);
    answer(exchange, 200, success(exchange));
  };
}

test.each<[string, () => Record<string, string>, number]>([
  ['in seconds', () => ({ 'retry-after': '1' }), 1000],
  ['in a date', () => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() }), 900],
  ['not given, so the back-off', () => ({}), 250],
])('Retry-After %s: honoured by all that wait, not only by the call that was rejected', async (_, headers, least) => {
  const options = { times: AT_ONCE, byName: { throttled: rejectingFirst(headers) } };
  const { service, misbehaving } = await openMisbehaving('throttled', options, { realClock: true });
  const stop = createStopSignal();
  const gate = openGate({ most: AT_ONCE, needsTimestamp: false, stop });
  const first = await gate.enter();
  first.confirm({ stamped: false });
  first[Symbol.dispose]();
  const signOne = async (index: number) => {
    using permit = await gate.enter();
    const request: SignRequest = {
      ...SIGN_REQUEST,
      digest: new Uint8Array(32).fill(index),
      beforeSend: async () => permit.send(),
      beforeRetry: (error) => permit.repeat(error),
    };
    await service.sign(request, stop.signal);
    permit.confirm({ stamped: false });
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => signOne(index)));
  const [rejected, ...others] = misbehaving.requests();
  expect(new Set(others.map(({ body }) => JSON.parse(body).digest)).size).toBe(12);
  const after = others.slice(AT_ONCE - 1).map(({ at }) => at - (rejected?.at ?? 0));
  expect(after).toHaveLength(9);
  expect(Math.min(...after)).toBeGreaterThanOrEqual(least);
});
