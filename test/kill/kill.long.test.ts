/**
 * The program killed with SIGKILL on its way and run again: no file damaged, no signature asked for twice, nothing left.
 * CODESIGN_TEST_KILL_POINTS says how many points; 600 are all steps of one file and a good part of a batch's.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/cli.ts';
import {
  type Aftermath,
  type KillPoint,
  killAndRunAgain,
  makeOriginals,
  prepareSubject,
  type Subject,
} from '../support/killed-runs.ts';
import { startServer, type TestServer } from '../support/server.ts';

const POINTS = Number(process.env.CODESIGN_TEST_KILL_POINTS ?? 60);
const LANES = 2;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let servers: readonly TestServer[];
beforeAll(async () => {
  folder = await temporaryFolder('codesign-kill-originals-');
  // With one's data in the other both have the same key: what they give is the same.
  const first = await startServer();
  servers = [first, await startServer({ data: first.data })];
});
afterAll(async () => {
  for (const server of [...servers].reverse()) await server.stop();
  await folder[Symbol.asyncDispose]();
});

interface Killed {
  readonly subject: Subject;
  readonly point: KillPoint;
}

/** Steps at even distances over the whole run, every third in the middle of a write; a quarter at times of chance. */
function pointsOf(subject: Subject, count: number): readonly Killed[] {
  const atTimes = Math.floor(count / 4);
  const steps = Array.from({ length: count - atTimes }, (_, index): KillPoint => {
    const step = 1 + Math.round((index * (subject.steps - 1)) / Math.max(1, count - atTimes - 1));
    return { step, torn: index % 3 === 2 };
  });
  const times = Array.from(
    { length: atTimes },
    (): KillPoint => ({ milliseconds: Math.random() * subject.milliseconds }),
  );
  return [...steps, ...times].map((point) => ({ subject, point }));
}

it(`${POINTS} kills: every file whole, each signature asked for once, nothing left`, {
  timeout: 3_600_000,
}, async () => {
  const [first] = servers;
  if (first === undefined) throw new Error('no server');
  const subjects: Subject[] = [];
  for (const [name, programs, archives] of [
    ['program', 1, 0],
    ['archive', 0, 1],
    ['batch', 10, 10],
  ] as const) {
    const place = join(folder.path, name);
    await mkdir(place);
    subjects.push(await prepareSubject(name, await makeOriginals(place, programs, archives), first));
  }
  const queue = subjects.flatMap((subject) => pointsOf(subject, Math.ceil(POINTS / subjects.length)));
  const done: (Killed & { readonly aftermath: Aftermath })[] = [];
  const lanes = servers.slice(0, LANES).map(async (server) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      done.push({ ...next, aftermath: await killAndRunAgain(next.subject, next.point, server) });
    }
  });
  await Promise.all(lanes);

  const faults = done.flatMap(({ subject, point, aftermath }) =>
    aftermath.faults.map((fault) => `${subject.name} ${JSON.stringify(point)}: ${fault}`),
  );
  const sum = (count: (aftermath: Aftermath) => number) =>
    done.reduce((total, { aftermath }) => total + count(aftermath), 0);
  console.log(
    `${done.length} kills: ${sum(({ requests }) => requests)} requests, ${sum(({ unknown }) => unknown)} unknown, ` +
      `${sum(({ reused }) => reused)} reused, ${sum(({ reportsDue }) => reportsDue)} reports due`,
  );
  expect(faults).toEqual([]);
  // Kills before and after the answer were among them, or this shows little.
  expect(sum(({ reused }) => reused)).toBeGreaterThan(0);
});
