/** Starts processes that sign with a journal, from a bundle that is made once in a run of the tests. */

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { madeOnce } from '../../../support/made-once.ts';
import { programForOthers } from '../../../support/programs/cli.ts';
import type { WorkerOptions } from './worker.ts';

export interface WorkerResult {
  /** Undefined when it was killed. */
  readonly failures: readonly string[] | undefined;
  /** Statements that it counted. */
  readonly statements: number;
  readonly stderr: string;
}

export async function workerSetting() {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-journal-workers-'));
  const forOthers = await programForOthers();
  const made = await madeOnce('journal-worker', async (at) => {
    await chmod(at, 0o755);
    // On Node.js 20 the journal needs a package, also for a user who cannot enter the repository.
    await symlink(join(dirname(dirname(forOthers.program)), 'node_modules'), join(at, 'node_modules'));
    const entryPoints = [fileURLToPath(new URL('worker.ts', import.meta.url))];
    const target = { format: 'esm', platform: 'node', target: 'node20.19' } as const;
    await build({ entryPoints, outfile: join(at, 'worker.mjs'), bundle: true, ...target, logLevel: 'error' });
  });
  const worker = join(made, 'worker.mjs');
  let places = 0;
  return {
    folder,
    /** A new place for a journal and the service's count. */
    newPlace() {
      places += 1;
      return { folder: join(folder, `state-${places}`), service: join(folder, `service-${places}`) };
    },
    /** As another user, where one is given: only root can. */
    async run(options: WorkerOptions, user?: number): Promise<WorkerResult> {
      const node = user === undefined ? process.execPath : forOthers.node;
      const identity = user === undefined ? {} : { uid: user, gid: user };
      const running = promisify(execFile)(node, [worker, JSON.stringify(options)], identity);
      return await running.then(
        ({ stdout, stderr }) => ({ ...JSON.parse(stdout), stderr }),
        (failure) => {
          if (failure.signal === null) throw failure;
          return { failures: undefined, statements: 0, stderr: failure.stderr };
        },
      );
    },
    /** Lines of the service's count that begin with the word. */
    async counted(service: string, what: 'request' | 'report'): Promise<readonly string[]> {
      const text = await readFile(service, 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line.startsWith(`${what} `));
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
