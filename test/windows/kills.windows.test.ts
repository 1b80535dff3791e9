import { expect, it } from 'vitest';
import { runWindowsCli, windowsPath } from '../support/programs/windows.ts';
import { killAndFinish, type Sequel } from '../support/runs/killed-runs.ts';
import { makeOriginals, type Platform, prepareSubject } from '../support/runs/killed-subjects.ts';
import { ONE_IN } from '../support/sample.ts';
import { startServer } from '../support/services/server.ts';
import { folderForAll, forAll } from '../support/set-up.ts';

/** Each takes three to four starts of the program. */
const POINTS = Math.ceil(48 / ONE_IN);
/** Node.js ends a process on Windows with TerminateProcess, whichever signal it is given. */
const WINDOWS: Platform = { run: (args, { env }) => runWindowsCli(args, env ? { env } : {}), path: windowsPath };
const SEQUELS: readonly Sequel[] = ['same', 'resume', 'skip-signed'];

const folder = folderForAll();
const first = await forAll(startServer());
const servers = [first, await forAll(startServer({ data: first.data }))];

it(`leaves every file whole and requests no signature twice after ${POINTS} calls of TerminateProcess`, {
  timeout: 1_200_000,
}, async () => {
  const originals = await makeOriginals(folder, 1, 1);
  const subject = await prepareSubject('mixed', originals, first, { isStamped: false }, WINDOWS);
  const points = Array.from({ length: POINTS }, (_, index) => ({
    step: 1 + Math.floor(Math.random() * subject.steps),
    torn: index % 3 === 2,
  }));
  const queue = [...points.entries()];
  const found: { readonly point: string; readonly aftermath: Awaited<ReturnType<typeof killAndFinish>> }[] = [];
  const lanes = servers.map(async (lane) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, point] = next;
      const sequel = SEQUELS[index % SEQUELS.length] ?? 'same';
      const kill = { subject, point, sequel, checked: index % 16 === 0, resumePoint: undefined };
      found.push({ point: JSON.stringify({ ...point, sequel }), aftermath: await killAndFinish(kill, lane, WINDOWS) });
    }
  });
  await Promise.all(lanes);
  expect(found.flatMap(({ point, aftermath }) => aftermath.faults.map((fault) => `${point}: ${fault}`))).toEqual([]);
  expect(found).toHaveLength(POINTS);
  // Without kills between a request and the end of its file, the test would show little.
  expect(found.some(({ aftermath }) => aftermath.reused > 0 || aftermath.resumed > 0)).toBe(true);
});
