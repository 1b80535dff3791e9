import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { assetOf } from '../bytes/executable.ts';
import { homeFolder, stateFolder } from '../bytes/platform-folders.ts';
import { lazy } from '../bytes/reuse.ts';
import { formats } from '../formats/registry.ts';
import { journalErrors } from '../journal/errors.ts';
import type { Journal, JournalReading } from '../journal/journal.ts';
import { type JournalOptions, openJournal, readJournal } from '../journal/open-journal.ts';
import { observeProcesses } from '../journal/processes.ts';
import type { Environment } from '../options/table.ts';
import { readHistoryDays } from '../options/variables.ts';
import { folderFlushes } from '../signing/files/flushes.ts';
import { temporaryNames } from '../signing/files/stale-files.ts';
import type { SigningEvent } from '../signing/outcome.ts';
import { listenWith, type Run } from '../signing/run.ts';
import type { Reading } from '../verifying/verify-file.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import { clock } from './clock.ts';

/** build.mjs writes this worker. A run from source computes digests without threads. */
const DIGEST_WORKER = new URL('./digest-worker.js', import.meta.url);

/** Longest wait for a `Retry-After` header, in milliseconds. */
const LONGEST_WAIT = 60_000;

export interface Runtime {
  readonly env: Environment;
  clock(): number;
}

export interface OpenedRun {
  readonly run: Run;
  /** Synchronous, because the process is about to end. */
  removeTemporaryFiles(): void;
}

/** Limit on concurrent files in commands that call no server. */
const LOCAL_CONCURRENCY = 4;

export async function openRun(
  onEvent: (event: SigningEvent) => void,
  { concurrency = LOCAL_CONCURRENCY, fileDigests = true }: Partial<Pick<Run, 'concurrency' | 'fileDigests'>> = {},
): Promise<OpenedRun> {
  const names = temporaryNames({
    processes: await observeProcesses(),
    randomHex: () => randomBytes(8).toString('hex'),
    now: () => Date.now(),
    bootTime: Date.now() - uptime() * 1000,
  });
  const temporaryFiles = new Set<string>();
  const disk = { ...names, flushFolder: folderFlushes(), temporaryFiles };
  return {
    run: { ...composeReading(), disk, concurrency, fileDigests, clock, now: () => new Date(), ...listenWith(onEvent) },
    removeTemporaryFiles: () => removeNow(temporaryFiles),
  };
}

export function composeReading(): Reading {
  const forArchives = lazy(composeDigesting);
  return { formats, digestEntries: async (...asked) => (await forArchives())(...asked) };
}

/** Loads node:zlib and the code for archives only when needed. */
async function composeDigesting(): Promise<DigestEntries> {
  const [{ createDigestThreads }, { digestEntriesWith }] = await Promise.all([
    import('../zip/digest-threads.ts'),
    import('../zip/entry-digests.ts'),
  ]);
  const worker = assetOf('digest-worker.cjs') ?? (existsSync(DIGEST_WORKER) ? DIGEST_WORKER : undefined);
  return digestEntriesWith(worker === undefined ? undefined : createDigestThreads(worker));
}

/** A later run removes temporary files that cannot be removed now. */
export function removeNow(paths: Iterable<string>): void {
  for (const path of paths) {
    try {
      rmSync(path, { force: true });
    } catch {}
  }
}

/** Checks first whether a journal exists, because opening it would create one. */
export async function hasJournal(env: Environment): Promise<boolean> {
  return stat(stateFolderOf(env)).then(
    () => true,
    (thrown) => !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'),
  );
}

/** The time limit for waiting for other processes is longer than `timeout`, the limit for one attempt of a call. */
export async function composeJournal({ env, clock }: Runtime, timeout: number): Promise<Journal> {
  const patience = timeout + LONGEST_WAIT;
  return openJournal({ ...(await journalOptions(env)), runningFor: clock(), patience });
}

export async function composeJournalReading(env: Environment): Promise<JournalReading> {
  return readJournal({ ...(await journalOptions(env)), runningFor: 0, patience: 0 });
}

async function journalOptions(env: Environment): Promise<Omit<JournalOptions, 'runningFor' | 'patience'>> {
  return {
    folder: stateFolderOf(env),
    now: () => new Date(),
    uptime: () => Number(process.hrtime.bigint()) / 1e6,
    randomId: () => randomBytes(10).toString('hex'),
    processes: await observeProcesses(),
    keepDays: readHistoryDays(env),
  };
}

export function stateFolderOf(env: Environment): string {
  const folder = stateFolder({ environment: env, platform: process.platform, home: homeFolder() });
  if (folder === undefined) throw journalErrors('no-state-folder');
  return folder;
}
