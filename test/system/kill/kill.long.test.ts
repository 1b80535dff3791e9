/**
 * The program killed with SIGKILL, or interrupted with SIGINT or SIGTERM, on its way and then finished, by the same command or
 * by `resume`, which is killed too: no file damaged, no signature requested twice, nothing left. CODESIGN_TEST_KILL_POINTS
 * says how many kills; for every five of them there are two interruptions.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/programs/cli.ts';
import {
  type Aftermath,
  type Kill,
  type KillPoint,
  killAndFinish,
  type Sequel,
} from '../../support/runs/killed-runs.ts';
import {
  makeBundleIn,
  makeOriginals,
  makeZipIn,
  prepareSubject,
  type Subject,
} from '../../support/runs/killed-subjects.ts';
import { startServer } from '../../support/services/server.ts';
import { forAll } from '../../support/set-up.ts';

const POINTS = Number(process.env.CODESIGN_TEST_KILL_POINTS ?? 150);
const SIGNALS = Math.round(POINTS * 0.4);
/** In this time before the end of a run its result is printed, its connections are closed, and its end is noted. */
const END_MILLISECONDS = 300;

const folder = await forAll(temporaryFolder('codesign-kill-originals-'));
const first = await forAll(startServer({ tsa: true }));
// Both servers have the same data, and so the same key: their signatures are equal.
const servers = [first, await forAll(startServer({ tsa: true, data: first.data }))];

/** Each subject gets a share of the points. */
const SUBJECTS = [
  { name: 'program', programs: 1, archives: 0, isStamped: false, isAppended: true, share: 0.14 },
  { name: 'archive', programs: 0, archives: 1, isStamped: false, isAppended: false, share: 0.14 },
  { name: 'others', programs: 0, archives: 0, isStamped: false, isAppended: false, share: 0.16 },
  { name: 'bundle', programs: 0, archives: 0, isStamped: true, isAppended: false, innerPackages: 2, share: 0.12 },
  { name: 'inside', programs: 0, archives: 0, isStamped: false, isAppended: false, inside: 3, share: 0.12 },
  { name: 'batch', programs: 10, archives: 10, isStamped: false, isAppended: false, share: 0.18 },
  { name: 'stamped', programs: 2, archives: 2, isStamped: true, isAppended: false, share: 0.14 },
] as const;

/** In turn; of those that leave all to `resume`, every second one has that killed too. */
const SEQUELS = [
  { sequel: 'same', isResumeKilled: false },
  { sequel: 'resume', isResumeKilled: false },
  { sequel: 'same', isResumeKilled: false },
  { sequel: 'skip-signed', isResumeKilled: false },
  { sequel: 'resume', isResumeKilled: true },
] as const satisfies readonly { readonly sequel: Sequel; readonly isResumeKilled: boolean }[];

/**
 * Half at steps at even distances over the whole run, every third of them in the middle of a write; the others at one of the
 * last steps, at times of chance, and at times of chance near the end.
 */
function killPoints(subject: Subject, count: number): readonly KillPoint[] {
  const each = Math.floor(count / 6);
  const even = count - 3 * each;
  const steps = Array.from({ length: even }, (_, index): KillPoint => {
    const step = 1 + Math.round((index * (subject.steps - 1)) / Math.max(1, even - 1));
    return { step, torn: index % 3 === 2 };
  });
  const last = Array.from({ length: each }, (_, index): KillPoint => ({ step: subject.steps - index, torn: false }));
  const times = Array.from({ length: each }, (): KillPoint => ({ milliseconds: timeIn(subject), signals: KILL }));
  const ends = Array.from({ length: each }, (): KillPoint => ({ milliseconds: timeNearEnd(subject), signals: KILL }));
  return [...steps, ...last, ...times, ...ends];
}

const KILL: readonly NodeJS.Signals[] = ['SIGKILL'];
const INTERRUPTIONS: readonly (readonly NodeJS.Signals[])[] = [
  ['SIGINT'],
  ['SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGINT'],
];

/** Interrupts one run at a step, the next near its end, and the third at a random time, then again at a step. */
function signalPoints(subject: Subject, count: number): readonly KillPoint[] {
  return Array.from({ length: count }, (_, index): KillPoint => {
    const signals = INTERRUPTIONS[Math.floor(index / 3) % INTERRUPTIONS.length] ?? KILL;
    const [signal = 'SIGINT'] = signals;
    if (index % 3 === 0) return { step: Math.ceil(((index + 1) / (count + 1)) * subject.steps), torn: false, signal };
    return { milliseconds: index % 3 === 1 ? timeNearEnd(subject) : timeIn(subject), signals };
  });
}

function timeIn({ milliseconds }: Subject): number {
  return Math.random() * milliseconds;
}

function timeNearEnd({ milliseconds }: Subject): number {
  return Math.max(0, milliseconds - Math.random() * END_MILLISECONDS);
}

function killsOf(subject: Subject, points: readonly KillPoint[]): readonly Kill[] {
  // At most four files were at work.
  const resumeSteps = Math.ceil(subject.steps * Math.min(1, 4 / subject.originals.length));
  return points.map((point, index) => {
    const { sequel: usual, isResumeKilled } = SEQUELS[index % SEQUELS.length] ?? SEQUELS[0];
    // --append and --skip-signed exclude one another.
    const isExcluded = subject.isAppended && usual === 'skip-signed';
    // `resume` requests none of the signatures that a file lacks.
    const isUnfinished = (subject.innerPackages ?? subject.inside) !== undefined && usual === 'resume';
    const sequel = isExcluded || isUnfinished ? 'same' : usual;
    const resumePoint = { step: 1 + ((index * 7) % resumeSteps), torn: index % 2 === 1 };
    const checked = subject.isStamped && index % 8 === 1;
    return { subject, point, sequel, checked, resumePoint: isResumeKilled && !isUnfinished ? resumePoint : undefined };
  });
}

const COUNTED = [
  ...(['killed', 'interrupted', 'toldAndKilled', 'noted', 'requests', 'unknown'] as const),
  ...(['reused', 'resumed', 'reports'] as const),
];

it(`${POINTS} kills and ${SIGNALS} interruptions: every file whole, each signature requested once, nothing left`, {
  timeout: 3_600_000,
}, async () => {
  const queue: Kill[] = [];
  for (const { name, programs, archives, share, ...how } of SUBJECTS) {
    const place = join(folder.path, name);
    await mkdir(place);
    const subject = await prepareSubject(
      name,
      await ('innerPackages' in how
        ? makeBundleIn(place, how.innerPackages)
        : 'inside' in how
          ? makeZipIn(place)
          : makeOriginals(place, programs, archives, name === 'others')),
      first,
      how,
    );
    queue.push(...killsOf(subject, killPoints(subject, Math.ceil(POINTS * share))));
    queue.push(...killsOf(subject, signalPoints(subject, Math.ceil(SIGNALS * share))));
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
  const sum = (name: (typeof COUNTED)[number]) => done.reduce((total, { aftermath }) => total + aftermath[name], 0);
  console.log([`points ${done.length}`, ...COUNTED.map((name) => `${name} ${sum(name)}`)].join(', '));
  expect(faults).toEqual([]);
  // A run notes its end directly before the process is gone: only a kill in between comes too late.
  expect(sum('noted')).toBeLessThanOrEqual(Math.ceil(POINTS / 100));
  expect(sum('interrupted')).toBeGreaterThan(0);
  // Kills before and after the answer were among them, or this shows little.
  expect(sum('reused')).toBeGreaterThan(0);
  // Of 60 points about 3 are such: in one of 20 runs none would be.
  if (POINTS >= 200) {
    expect(sum('toldAndKilled')).toBeGreaterThan(0);
    expect(sum('resumed')).toBeGreaterThan(0);
  }
});
