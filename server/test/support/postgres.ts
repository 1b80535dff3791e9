/** A PostgreSQL of the tests' own: a cluster in a temporary folder, reached through a socket in it. One for each process, or one that stops. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lazy } from '../../../src/bytes/reuse.ts';
import { endWithThisProcess } from '../../../test/support/children.ts';
import { madeOnce } from '../../../test/support/made-once.ts';

/** One for all test files of this process, which do not stop it. */
export const usePostgres = lazy(() => startPostgres());

/** @param flushes whether a commit is flushed to the disk, as in production; no test needs that */
export async function startPostgres({ flushes = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-pg-'));
  await chmod(folder, 0o755);
  const as = unprivilegedUser();
  const own = async (path: string) => as && (await chown(path, as.uid, as.gid));

  await own(folder);
  const data = join(folder, 'data');
  const cluster = await madeOnce('postgres', async (empty) => {
    await own(empty);
    const args = ['-D', empty, '-U', 'tests', '-A', 'trust', '--no-sync', '--wal-segsize=1', '-E', 'UTF8'];
    execFileSync(program('initdb'), args, { stdio: 'pipe', cwd: folder, ...as });
  });
  execFileSync('cp', ['-a', cluster, data]);
  // No TCP, and no flushing: nothing here is to outlive the machine.
  const fsync = `fsync=${flushes ? 'on' : 'off'}`;
  const sockets = `unix_socket_directories=${folder}`;
  const settings = ['listen_addresses=', sockets, fsync, 'max_connections=200', 'deadlock_timeout=1s'];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  let log = '';
  const start = async () => {
    const child = spawn(program('postgres'), args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, ...as });
    endWithThisProcess(child);
    const ended = once(child, 'exit');
    const before = log.length;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    while (!log.slice(before).includes('ready to accept connections')) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}: ${log}`);
      await sleep(20);
    }
    return { child, ended };
  };
  let running = await start();

  const addressOf = (name: string) => `postgres://tests@localhost/${name}?host=${encodeURIComponent(folder)}`;
  /** Runs SQL in a database. @returns the last result: a line for each row, with `|` between its columns */
  const query = async (url: string, sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const results = [await client.query({ text: sql, rowMode: 'array' })].flat();
      return (results.at(-1)?.rows ?? []).map((row: readonly unknown[]) => row.join('|')).join('\n');
    } finally {
      await client.end();
    }
  };
  /** Ends it as `pg_ctl stop -m immediate` does (SIGQUIT): no transaction under way is finished. */
  const stopImmediately = async () => {
    running.child.kill('SIGQUIT');
    await running.ended;
  };
  let made = 0;
  return {
    /** Makes an empty database. @returns its address */
    async newDatabase() {
      const name = `test_${++made}`;
      await query(addressOf('postgres'), `create database ${name}`);
      return addressOf(name);
    },
    query,
    stopImmediately,
    async start() {
      running = await start();
    },
    log: () => log,
    async stop() {
      await stopImmediately();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. This user is there wherever it is installed by a package. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, 'postgres'])));
  return { uid, gid } as { readonly uid: number; readonly gid: number };
}

/** Debian keeps each version's programs in a folder off the PATH. */
function program(name: string): string {
  const versions = '/usr/lib/postgresql';
  const newestFirst = existsSync(versions) ? readdirSync(versions).sort().reverse() : [];
  const folders = [
    ...newestFirst.map((version) => join(versions, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders.map((folder) => join(folder, name)).find(existsSync);
  if (found === undefined) {
    throw new Error(
      `${name} of PostgreSQL is missing: apt-get install postgresql (dnf: postgresql-server, apk, brew: postgresql)`,
    );
  }
  return found;
}
