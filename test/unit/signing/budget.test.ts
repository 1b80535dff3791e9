/** The month's budget: what the journal counts, and what a run might request, before its first request. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { withoutJournal } from '../../../src/signing/service/call.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { type JournalScene, journalScene } from './journal-scene.ts';
import type { FlatSigning } from './signing-run.ts';

let scene: JournalScene;
beforeEach(async () => {
  scene = await journalScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

const programs = (...names: string[]) => Promise.all(names.map((name) => scene.program(name)));

async function run(names: readonly string[], more: FlatSigning) {
  const journal = await scene.open();
  return await signFiles(await programs(...names), scene.signing(journal, more));
}

it('is used up by what was asked, and rejects a run that might go beyond it before its first request', async () => {
  await run(['a', 'b'], { monthlyBudget: 2 });
  expect(scene.service.asked).toBe(2);
  await expect(run(['c'], { monthlyBudget: 2 })).rejects.toMatchObject({
    code: 'budget-exceeded',
    category: 'usage',
    message: expect.stringMatching(/^this month's budget is 2 signatures: 2 used, and this run might request 1;/),
  });
  await expect(run(['c', 'd'], { monthlyBudget: 3 })).rejects.toMatchObject({ code: 'budget-exceeded' });
  expect(scene.service.asked).toBe(2);
  expect((await run(['c'], { monthlyBudget: 3 })).summary.signed).toBe(1);
});

it('counts calls with an unknown outcome', async () => {
  const monthlyBudget = 2;
  scene.service.before = () => Promise.reject(new TypeError('broken'));
  expect((await run(['a'], { monthlyBudget })).summary.failed).toBe(1);
  scene.service.before = async () => undefined;
  await expect(run(['b', 'c'], { monthlyBudget })).rejects.toMatchObject({
    message: expect.stringContaining('2 signatures: 1 used, '),
  });
});

it('is of one certificate number, one service and one month', async () => {
  await run(['a'], {});
  expect((await run(['b'], { monthlyBudget: 1, code: '2' })).summary.signed).toBe(1);
  expect((await run(['c'], { monthlyBudget: 1, origin: 'https://other.example' })).summary.signed).toBe(1);
  const nextMonth = () => new Date(Date.now() + 32 * 86_400_000);
  expect((await run(['d'], { monthlyBudget: 1, now: nextMonth })).summary.signed).toBe(1);
});

it('does not keep a run that sends no request, or that only rehearses', async () => {
  const [file] = await programs('a');
  const again = async (more: FlatSigning) =>
    await signFiles(file ? [file] : [], scene.signing(await scene.open(), more));
  await again({});
  expect((await again({ monthlyBudget: 0, existing: 'skip' })).summary).toMatchObject({ skipped: 1, failed: 0 });
  expect((await run(['b'], { monthlyBudget: 0, dryRun: true })).summary.planned).toBe(1);
});

it('alone has the history read', async () => {
  const counted = () => Promise.reject(new Error('it was read'));
  const claims = { ...withoutJournal, counted };
  expect((await signFiles(await programs('a'), scene.signing(claims))).summary.signed).toBe(1);
  await expect(signFiles(await programs('b'), scene.signing(claims, { monthlyBudget: 9 }))).rejects.toThrow('read');
});
