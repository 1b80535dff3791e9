/**
 * The program killed with SIGKILL on its way and then finished, by the same command or by `resume`, which is killed too: no
 * file damaged, no signature asked for twice, nothing left. CODESIGN_TEST_KILL_POINTS says how many points.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/cli.ts';
import { type Aftermath, type Kill, type KillPoint, killAndFinish, type Sequel } from '../support/killed-runs.ts';
import { makeOriginals, prepareSubject, type Subject } from '../support/killed-subjects.ts';
import { startServer, type TestServer } from '../support/server.ts';

const POINTS = Number(process.env.CODESIGN_TEST_KILL_POINTS ?? 300);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let servers: readonly TestServer[];
beforeAll(async () => {
  folder = await temporaryFolder('codesign-kill-originals-');
  // With one's data in the other both have the same key: what they give is the same.
  const first = await startServer({ tsa: true });
  servers = [first, await startServer({ tsa: true, data: first.data })];
});
afterAll(async () => {
  for (const server of [...servers].reverse()) await server.stop();
  await folder[Symbol.asyncDispose]();
});

/** Of each subject as many points as its share says. */
const SUBJECTS = [
  { name: 'program', programs: 1, archives: 0, isStamped: false, share: 0.28 },
  { name: 'archive', programs: 0, archives: 1, isStamped: false, share: 0.28 },
  { name: 'batch', programs: 10, archives: 10, isStamped: false, share: 0.3 },
  { name: 'stamped', programs: 2, archives: 2, isStamped: true, share: 0.14 },
] as const;

/** In turn; of those that leave all to `resume`, every second one has that killed too. */
const SEQUELS: readonly { readonly sequel: Sequel; readonly isResumeKilled: boolean }[] = [
  { sequel: 'same', isResumeKilled: false },
  { sequel: 'resume', isResumeKilled: false },
  { sequel: 'same', isResumeKilled: false },
  { sequel: 'skip-signed', isResumeKilled: false },
  { sequel: 'resume', isResumeKilled: true },
];

/** Steps at even distances over the whole run, every third in the middle of a write; a quarter at times of chance. */
function killsOf(subject: Subject, count: number): readonly Kill[] {
  const atTimes = Math.floor(count / 4);
  const steps = Array.from({ length: count - atTimes }, (_, index): KillPoint => {
    const step = 1 + Math.round((index * (subject.steps - 1)) / Math.max(1, count - atTimes - 1));
    return { step, torn: index % 3 === 2 };
  });
  const times = Array.from(
    { length: atTimes },
    (): KillPoint => ({ milliseconds: Math.random() * subject.milliseconds }),
  );
  // At most four files were at work.
  const resumeSteps = Math.ceil(subject.steps * Math.min(1, 4 / subject.originals.length));
  return [...steps, ...times].map((point, index) => {
    const { sequel, isResumeKilled } = SEQUELS[index % SEQUELS.length] ?? { sequel: 'same', isResumeKilled: false };
    const resumePoint = { step: 1 + ((index * 7) % resumeSteps), torn: index % 2 === 1 };
    const judged = subject.isStamped && index % 8 === 1;
    return {
      subject,
      point,
      sequel,
      judged,
      resumePoint: isResumeKilled ? resumePoint : undefined,
    };
  });
}

it(`${POINTS} kills: every file whole, each signature asked for once, nothing left`, {
  timeout: 3_600_000,
}, async () => {
  const [first] = servers;
  if (first === undefined) throw new Error('no server');
  const queue: Kill[] = [];
  for (const { name, programs, archives, isStamped, share } of SUBJECTS) {
    const place = join(folder.path, name);
    await mkdir(place);
    const subject = await prepareSubject(name, await makeOriginals(place, programs, archives), first, isStamped);
    queue.push(...killsOf(subject, Math.ceil(POINTS * share)));
  }
  const done: { readonly kill: Kill; readonly aftermath: Aftermath }[] = [];
  const lanes = servers.map(async (server) => {
    for (let kill = queue.shift(); kill !== undefined; kill = queue.shift()) {
      done.push({ kill, aftermath: await killAndFinish(kill, server) });
    }
  });
  await Promise.all(lanes);

  const faults = done.flatMap(({ kill: { subject, ...how }, aftermath }) =>
    aftermath.faults.map((fault) => `${subject.name} ${JSON.stringify(how)}: ${fault}`),
  );
  const sum = (count: (aftermath: Aftermath) => number) =>
    done.reduce((total, { aftermath }) => total + count(aftermath), 0);
  const counts = {
    points: done.length,
    killed: sum(({ killed }) => killed),
    requests: sum(({ requests }) => requests),
    unknown: sum(({ unknown }) => unknown),
    reused: sum(({ reused }) => reused),
    resumed: sum(({ resumed }) => resumed),
    reports: sum(({ reports }) => reports),
  };
  console.log(
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
  );
  expect(faults).toEqual([]);
  // Kills before and after the answer were among them, or this shows little.
  expect(counts.reused).toBeGreaterThan(0);
  expect(counts.resumed).toBeGreaterThan(0);
});
