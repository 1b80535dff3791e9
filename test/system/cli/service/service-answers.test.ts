/** Every way in which a service can fail a caller, over TLS: category, exit code, number of requests, the file untouched. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type AnswersRun, signAmongAnswers } from '../../../support/services/answers-scene.ts';
import type { MisbehaviourName } from '../../../support/services/misbehaving-answers.ts';

interface Expected {
  readonly code: string;
  readonly httpStatus: number | null;
  readonly serviceCode: number | null;
  readonly signRequests: number;
  readonly mayHaveBeenCounted: boolean;
}

type Rows = Partial<Record<MisbehaviourName, Expected>>;

const row = (code: string, rest: Partial<Expected> = {}): Expected => ({
  code,
  httpStatus: 200,
  serviceCode: null,
  signRequests: 1,
  mayHaveBeenCounted: false,
  ...rest,
});

const malformed = row('malformed-answer', { mayHaveBeenCounted: true });
const noSignature = row('no-signature', { serviceCode: 0 });
const refused = (serviceCode: number): Expected => row('refused', { serviceCode });

const BUSINESS: Rows = {
  refused: refused(1001),
  'parameter-error': refused(400),
  'quota-as-429-under-200': refused(429),
  'busy-under-200': refused(503),
  'large-code': refused(20_260_000_001),
  'code-negative': refused(-1),
  'code-twice': refused(1001),
  'code-a-string': malformed,
  'code-a-fraction': malformed,
  'code-missing': malformed,
  'code-beyond-numbers': malformed,
  'json-array': malformed,
  'envelope-in-an-array': malformed,
  'data-null': noSignature,
  'data-missing': noSignature,
  'data-an-array': noSignature,
  'signature-missing': noSignature,
  'signature-a-number': noSignature,
  'signature-empty': noSignature,
  'signature-blank': noSignature,
  html: malformed,
  'empty-body': malformed,
  'no-content': { ...malformed, httpStatus: 204 },
  'not-json': malformed,
  'json-cut-short': malformed,
  'utf-16': malformed,
  'compressed-otherwise': malformed,
  'compressed-cut-short': malformed,
  'compressed-bomb': malformed,
  'endless-body': malformed,
};

const redirected = (httpStatus: number): Expected => row('redirected', { httpStatus });
const status = (httpStatus: number, rest: Partial<Expected> = {}): Expected =>
  row('http-error', { httpStatus, ...rest });

const HTTP: Rows = {
  'redirect-302-here': redirected(302),
  'redirect-302-elsewhere': redirected(302),
  'redirect-307-elsewhere': redirected(307),
  'redirect-nowhere': redirected(302),
  redirect: { ...redirected(307), serviceCode: 307 },
  'bad-request': status(400, { serviceCode: 400 }),
  'not-found': status(404),
  'request-timed-out': status(408, { mayHaveBeenCounted: true }),
  'throttled-at-once': row('throttled', { httpStatus: 429, serviceCode: 429, signRequests: 5 }),
  'server-error': status(500),
  'server-error-envelope': status(500, { serviceCode: 5001 }),
  'success-with-status-500': status(500, { serviceCode: 0 }),
  'error-cut-short': status(500),
  'bad-gateway': status(502, { mayHaveBeenCounted: true }),
  'unavailable-at-once': status(503, { serviceCode: 503, signRequests: 5 }),
  unavailable: status(503, { mayHaveBeenCounted: true }),
  'unavailable-without-envelope': status(503, { signRequests: 5 }),
  'gateway-timed-out': status(504, { mayHaveBeenCounted: true }),
};

const broken = row('connection-broken', { httpStatus: null, mayHaveBeenCounted: true });
const timedOut: Expected = { ...broken, code: 'sign-timed-out' };

const NETWORK: Rows = {
  'breaks-before-answer': broken,
  'ends-before-answer': broken,
  'breaks-during-head': broken,
  'breaks-during-body': { ...broken, httpStatus: 200 },
  'answers-with-an-alert': { ...broken, httpStatus: 200 },
  'answers-not-http': broken,
  'chunks-without-sense': { ...broken, httpStatus: 200 },
  'headers-without-end': broken,
  'two-lengths': broken,
  'two-lengths-in-a-list': broken,
  'length-and-chunks': broken,
  'other-protocol': broken,
  hangs: timedOut,
  'hangs-in-body': { ...timedOut, httpStatus: 200 },
  'slow-drip': { ...timedOut, httpStatus: 200 },
};

describe.each<[string, number, Rows]>([
  ['business', 5, BUSINESS],
  ['http', 4, HTTP],
  ['network', 3, NETWORK],
])('%s: exit code %i', (category, exitCode, rows) => {
  let answers: AnswersRun;
  beforeAll(async () => {
    // Only those of the network wait for it to pass.
    const args = ['--timeout', category === 'network' ? '1' : '20'];
    // Among those of the business are answers that have no end, or expand without limit.
    const isMeasured = category === 'business';
    answers = await signAmongAnswers({ names: Object.keys(rows), args, betweenSuccesses: true, isMeasured });
  });

  it.each(Object.entries(rows))('%s', (name, expected) => {
    const { file, signRequests, isUntouched } = answers.of(name);
    const { code, httpStatus, serviceCode, mayHaveBeenCounted } = expected;
    expect(file).toMatchObject({ status: 'failed', error: { category, code, httpStatus, serviceCode } });
    expect(file?.error?.hint).toBeTruthy();
    expect(file?.error?.message.includes('may have been made and counted')).toBe(mayHaveBeenCounted);
    expect(signRequests).toBe(expected.signRequests);
    expect(isUntouched).toBe(true);
  });

  it('leaves no files, contacts nothing else, takes no more memory, and ends no other file', () => {
    expect(answers.run.code).toBe(exitCode);
    expect(answers.of('sound-0').file).toMatchObject({ status: 'signed' });
    expect(answers.added).toEqual([]);
    expect(answers.connectionsElsewhere).toBe(0);
    expect(answers.run.usage?.peakBytes ?? 0).toBeLessThan(200 * 1024 * 1024);
  });
});
