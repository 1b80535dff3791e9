/** An event that breaks all requests in progress, without and with `--repeat-unknown`. */

import { expect, it } from 'vitest';
import { signFiles } from '../../../../src/signing/sign-files.ts';
import { answer, type Misbehaviour } from '../../../support/services/answering.ts';
import { forEach } from '../../../support/set-up.ts';
import { historyOf } from '../../journal/support/setting.ts';
import { openMisbehaving } from '../../service/misbehaving-client.ts';
import { journalScene } from '../journal-scene.ts';
import type { FlatSigning } from '../signing-run.ts';

const scene = forEach(journalScene);
const AT_ONCE = 4;

/** Ends the connections of all requests in progress when the last of them has arrived. */
function breakTogether(): Misbehaviour {
  const waiting: (() => void)[] = [];
  return ({ response }) => {
    waiting.push(() => response.destroy());
    if (waiting.length === AT_ONCE) for (const end of waiting) end();
  };
}

/** Signs `count` programs. After the first, `harm` is done to `times` requests. */
async function runThrough(count: number, times: number, harm: Misbehaviour, more: FlatSigning = {}) {
  const options = { key: scene.key, after: 1, times, byName: { hangs: harm } };
  const { service, misbehaving } = await openMisbehaving('hangs', options);
  const programs = await Promise.all(
    Array.from({ length: count }, (_, index) => scene.program(`${index}.exe`, `content ${index}`)),
  );
  const journal = await scene.open();
  const signing = scene.signing(journal, { service, report: false, concurrency: AT_ONCE, ...more });
  const { files, summary } = await signFiles(programs, signing);
  const warned = files.filter(({ warnings }) => warnings.some((text) => text.endsWith('[request-repeated]')));
  const errors = files.flatMap((file) => (file.status === 'failed' ? [file.error] : []));
  return { summary, errors, warned: warned.length, requests: misbehaving.signRequests() };
}

it('fails only what was in progress: 4 of 12 files, and the others are attempted', async () => {
  const { summary, errors, requests } = await runThrough(12, AT_ONCE, breakTogether());
  expect(summary).toMatchObject({ signed: 8, failed: 4, notAttempted: 0 });
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['connection-broken']));
  expect(requests).toBe(12);
  expect((await historyOf(await scene.open())).filter(({ counted }) => counted === 'unknown')).toHaveLength(4);
});

it('retries what was in progress once if the user allows it: 12 of 12 files, and 4 warnings', async () => {
  const { summary, warned, requests } = await runThrough(12, AT_ONCE, breakTogether(), { repeatUnknown: 20 });
  expect(summary).toMatchObject({ signed: 12, failed: 0 });
  expect(requests).toBe(16);
  expect(warned).toBe(4);
  const entries = await historyOf(await scene.open());
  expect(entries.filter(({ repeated }) => repeated)).toHaveLength(4);
  expect(entries.filter(({ outcome }) => outcome === 'written')).toHaveLength(12);
});

it.each<[string, FlatSigning, number]>([
  ['no more of them than are allowed', { repeatUnknown: 3 }, 3],
  ['no more than the limit of signatures leaves', { repeatUnknown: 20, maxSignatures: 10 }, 2],
  ['none if the limit of signatures leaves none', { repeatUnknown: 20, maxSignatures: 8 }, 0],
])('repeats %s', async (_what, policy, repeated) => {
  const { summary, warned, requests } = await runThrough(8, AT_ONCE, breakTogether(), policy);
  expect(summary).toMatchObject({ signed: 4 + repeated, failed: 4 - repeated, notAttempted: 0 });
  expect([requests, warned]).toEqual([8 + repeated, repeated]);
});

it.each<[string, Misbehaviour, string, number]>([
  ['lost too', ({ response }) => void response.destroy(), 'connection-broken', 2],
  ['refused', (exchange) => answer(exchange, 200, { code: 1001, message: '', data: null }), 'refused', 2],
  ['throttled', (exchange) => answer(exchange, 429, { code: 429, message: '', data: null }), 'throttled', 5],
])('leaves the outcome unknown if the repetition is %s', async (_how, second, code, attempts) => {
  let isFirst = true;
  const harm: Misbehaviour = (exchange) => {
    if (isFirst) exchange.response.destroy();
    else second(exchange);
    isFirst = false;
  };
  const { errors, warned, requests } = await runThrough(2, Number.POSITIVE_INFINITY, harm, { repeatUnknown: 5 });
  expect(errors).toMatchObject([{ code }]);
  expect([requests, warned]).toEqual([1 + attempts, 1]);
  expect((await historyOf(await scene.open())).at(-1)).toMatchObject({
    outcome: 'unknown',
    counted: 'unknown',
    repeated: true,
  });
});
