/** Starts processes that sign with a journal, from a bundle made for the test. */

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { programForOthers } from '../../../support/programs/cli.ts';
import type { WorkerOptions } from './worker.ts';

export interface WorkerResult {
  /** Undefined when it was killed. */
  readonly failures: readonly string[] | undefined;
  /** Statements that it counted. */
  readonly statements: number;
  readonly stderr: string;
}

export interface WorkerSetting extends AsyncDisposable {
  readonly folder: string;
  /** A new place for a journal and the service's count. */
  newPlace(): Pick<WorkerOptions, 'folder' | 'service'>;
  /** As another user, where one is given: only root can. */
  run(options: WorkerOptions, user?: number): Promise<WorkerResult>;
  /** Lines of the service's count that begin with the word. */
  counted(service: string, what: 'request' | 'report'): Promise<readonly string[]>;
}

/** The program in this folder, as one file. */
export async function bundle(name: string, outfile: string): Promise<void> {
  const entryPoints = [fileURLToPath(new URL(name, import.meta.url))];
  const target = { format: 'esm', platform: 'node', target: 'node20.19' } as const;
  await build({ entryPoints, outfile, bundle: true, ...target, logLevel: 'error' });
}

export async function workerSetting(): Promise<WorkerSetting> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-journal-workers-'));
  const worker = join(folder, 'worker.mjs');
  const forOthers = await programForOthers();
  // On Node.js 20 the journal needs a package, also for a user who cannot enter the repository.
  await symlink(join(dirname(dirname(forOthers.program)), 'node_modules'), join(folder, 'node_modules'));
  await bundle('worker.ts', worker);
  let places = 0;
  return {
    folder,
    newPlace() {
      places += 1;
      return { folder: join(folder, `state-${places}`), service: join(folder, `service-${places}`) };
    },
    run: (options, user) => runWorker([user === undefined ? process.execPath : forOthers.node, worker], options, user),
    async counted(service, what) {
      const text = await readFile(service, 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line.startsWith(`${what} `));
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function runWorker(
  [node, worker]: readonly [string, string],
  options: WorkerOptions,
  user: number | undefined,
): Promise<WorkerResult> {
  const child = spawn(node, [worker, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('close', (_code, killedBy) => resolve(killedBy)),
  );
  if (signal !== null) return { failures: undefined, statements: 0, stderr };
  return { ...(JSON.parse(stdout) as { failures: string[]; statements: number }), stderr };
}
