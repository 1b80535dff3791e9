/** Opens the journal: its folder made and judged, what is old removed, and what it can do put together. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callFiles } from './call-files.ts';
import { claim } from './claim.ts';
import { makeFolder, namesIn, removeFile } from './disk.ts';
import { finishedCalls } from './finished-calls.ts';
import { judgeFolder } from './folder.ts';
import { inJournal } from './guard.ts';
import { openHistory } from './history.ts';
import type { Claim, Journal } from './journal.ts';
import { observeLiveness } from './liveness.ts';
import type { JournalParts } from './parts.ts';
import type { Processes } from './processes.ts';
import { provenPairs } from './proven-pairs.ts';
import { lookForUnendedRuns } from './unended-runs.ts';
import { unfinishedCalls } from './unfinished-calls.ts';
import { createWaiting } from './waiting.ts';

export interface JournalOptions {
  /** The state folder; the journal's own folders are in it. */
  readonly folder: string;
  readonly now: () => Date;
  /**
   * Milliseconds on a clock that never goes back and that all processes share until the machine is started again:
   * `process.hrtime`. Whole seconds, as of `os.uptime` here and there, would miss signatures that could be shared.
   */
  readonly uptime: () => number;
  /** 8 to 64 characters of a-z and 0-9: never the same twice. */
  readonly randomId: () => string;
  readonly processes: Processes;
  /** Days that the history is kept, at least; by whole months. */
  readonly keepDays: number;
  /** Milliseconds that this run has been going: signatures that other processes have finished since then are shared. */
  readonly runningFor: number;
}

export const DEFAULT_KEEP_DAYS = 90;

const PROBE_NAME = '.probe-';

/** Room that one call needs at most, several times over. */
const PROBE = new Uint8Array(16 * 1024).fill(0x20);

/** Throws `journal-unusable` or `journal-full`. Reads nothing of the history. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  return inJournal(options.folder, () => open(options));
}

async function open(options: JournalOptions): Promise<Journal> {
  const { folder, now, uptime, randomId, processes } = options;
  const warnings: string[] = [];
  const warn = (sentence: string): void => {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  };
  await makeFolder(folder);
  const owner = await judgeFolder(folder, warn);
  const inside = (name: string): string => join(folder, name);
  const names = { calls: inside('calls'), aside: inside('aside'), history: inside('history') };
  const others = { finished: inside('finished'), proven: inside('proven'), running: inside('running') };
  for (const path of [...Object.values(names), ...Object.values(others)]) await makeFolder(path, owner);
  await probe(folder, randomId());

  const calls = callFiles(names, owner);
  const onDamaged = (month: string, lines: number): void =>
    warn(
      `The history of ${month} in ${names.history} has ${lines} damaged ${lines === 1 ? 'line' : 'lines'}, left out.`,
    );
  const liveness = observeLiveness(processes, randomId(), now);
  const unended = await lookForUnendedRuns({ folder: others.running, owner, now, self: liveness.self.run });
  const parts: JournalParts = {
    now,
    uptime,
    randomId,
    began: {
      at: new Date(now().getTime() - options.runningFor).toISOString(),
      up: uptime() - options.runningFor,
      boot: processes.self.boot,
    },
    calls,
    finished: finishedCalls(others.finished, calls, now, owner),
    history: openHistory({ folder: names.history, owner, now, onDamaged }),
    proven: provenPairs(others.proven, owner),
    unended,
    liveness,
    waiting: createWaiting(),
    unanswered: new Set(),
    warn,
    guard: (work) => inJournal(folder, work),
  };
  await parts.finished.removeOld(unended.since);
  await parts.history.removeOld(options.keepDays);
  return guarded(parts, warnings);
}

/** What a full or read-only disk would refuse is refused here, before anything is asked of anybody. */
async function probe(folder: string, id: string): Promise<void> {
  const path = join(folder, `${PROBE_NAME}${id}`);
  // A process that was killed left its own; one that runs has no further use for its name.
  const left = (await namesIn(folder)).filter((name) => name.startsWith(PROBE_NAME));
  for (const name of left) await removeFile(join(folder, name)).catch(() => undefined);
  try {
    await writeFile(path, PROBE, { flag: 'wx', mode: 0o600, flush: true });
  } finally {
    await removeFile(path);
  }
}

function guarded(parts: JournalParts, warnings: readonly string[]): Journal {
  const { guard } = parts;
  const unfinished = unfinishedCalls(parts);
  return {
    warnings,
    claim: async (work, facts, options) => guardedClaim(await guard(() => claim(parts, work, facts, options)), guard),
    unfinished: () => guard(() => unfinished.unfinished()),
    history: () => unfinished.history(),
    counted: (what) => guard(() => unfinished.counted(what)),
    reported: (id, status) => guard(() => unfinished.reported(id, status)),
    forget: (id, reported) => guard(() => unfinished.forget(id, reported)),
    isProven: (pair) => guard(() => parts.proven.has(pair)),
    // A run that is taken for one that did not end costs nothing.
    ended: () => parts.unended.end().catch(() => undefined),
  };
}

function guardedClaim(given: Claim, guard: JournalParts['guard']): Claim {
  return {
    id: given.id,
    known: given.known,
    unknownCalls: given.unknownCalls,
    justUnanswered: given.justUnanswered,
    requested: () => guard(() => given.requested()),
    signed: (record) => guard(() => given.signed(record)),
    refused: (reason) => guard(() => given.refused(reason)),
    unanswered: (reason) => guard(() => given.unanswered(reason)),
    unusable: (reason) => guard(() => given.unusable(reason)),
    written: (target) => guard(() => given.written(target)),
    notWritten: (reason, changed) => guard(() => given.notWritten(reason, changed)),
    reported: (status) => guard(() => given.reported(status)),
    release: () => guard(() => given.release()),
  };
}
