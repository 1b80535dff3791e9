import { appendFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { SigningEvent } from '../../../src/signing/outcome.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { forEach } from '../../support/set-up.ts';
import { journalScene } from './journal-scene.ts';

const scene = forEach(journalScene);

it('the report about a late answer stays due when the file fails afterwards', async () => {
  const [file, equal] = [await scene.program('1.exe', 'the same'), await scene.program('2.exe', 'the same')];
  const late = await scene.open();
  // For this process, the other one has ended.
  const self = { host: 'here', boot: 'first', pid: 101, started: '1' };
  const other = await scene.open({ processes: { self, isRunning: () => false } });
  const kinds = async () => (await other.unfinished()).map(({ kind }) => kind);
  let second: Promise<unknown> | undefined;
  scene.service.before = async () => {
    if (scene.service.asked === 1) {
      await new Promise<void>((resolve) => {
        scene.service.before = async () => {
          resolve();
          while (!(await kinds()).includes('surplus')) await new Promise((turn) => setImmediate(turn));
        };
        second = signFiles([equal], scene.signing(other));
      });
      await appendFile(file.path, 'changed');
    }
  };
  const result = await signFiles([file], scene.signing(late));
  await second;
  expect(result.files).toMatchObject([{ status: 'failed' }]);
  const surplus = (await (await scene.open()).unfinished()).filter(({ kind }) => kind === 'surplus');
  expect(surplus).toMatchObject([{ record: 'record-1', reportDue: 2 }]);
});

it.each([1, 2])(
  'one that two files use, of which one fails, is reported as used (%s concurrently)',
  async (concurrency) => {
    const files = await Promise.all(['a.exe', 'b.exe'].map((name) => scene.program(name, 'the same')));
    scene.service.before = () => appendFile(files[0]?.path ?? '', 'changed');
    const result = await signFiles(files, scene.signing(await scene.open(), { concurrency }));
    expect(result.summary).toMatchObject({ signed: 1, failed: 1 });
    expect(scene.service.asked).toBe(1);
    expect(scene.service.reports).toEqual([['record-1', 1]]);
  },
);

it('reports which process a file waits for', async () => {
  const [mine, yours] = await Promise.all([scene.program('mine.exe', 'same'), scene.program('yours.exe', 'same')]);
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let second: ReturnType<typeof signFiles> | undefined;
  const events: SigningEvent[] = [];
  scene.service.before = async () => {
    const onEvent = (event: SigningEvent): void => {
      events.push(event);
      if (event.type === 'waiting') answer();
    };
    second = scene.open().then((journal) => signFiles([yours], scene.signing(journal, { onEvent })));
    await answered;
  };
  const first = await signFiles([mine], scene.signing(await scene.open()));
  expect([first.summary.signed, (await second)?.summary.signed]).toEqual([1, 1]);
  expect(events.filter(({ type }) => type === 'waiting')).toEqual([
    { type: 'waiting', path: yours.path, whom: 'process 100' },
  ]);
  expect(scene.service.asked).toBe(1);
});
