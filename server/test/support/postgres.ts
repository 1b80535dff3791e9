/** A PostgreSQL of the tests' own: a cluster in a temporary folder, reached through a socket in it, and gone afterwards. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TestPostgres {
  /** Makes an empty database. @returns its address */
  newDatabase(): string;
  /** Runs SQL in a database. @returns what psql prints, unaligned */
  query(url: string, sql: string): string;
  /** Ends it as `pg_ctl stop -m immediate` does (SIGQUIT): no transaction under way is finished. */
  stopImmediately(): Promise<void>;
  start(): Promise<void>;
  /** Both, as `pg_ctl restart -m immediate` does. */
  restart(): Promise<void>;
  /** Everything it wrote to its log so far. */
  log(): string;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root; these users are there wherever it is installed, or always. */
const USERS = ['postgres', 'nobody'];

/** @param flushes whether a commit is flushed to the disk, as in production; no test needs that */
export async function startPostgres({ flushes = false } = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-pg-'));
  await chmod(folder, 0o755);
  const asUser = unprivileged();
  if (asUser.length > 0) execFileSync('chown', [asUser[0]?.replace('--reuid=', '') ?? '', folder]);
  const run = (name: string, ...args: readonly string[]) =>
    asUser.length > 0
      ? (['setpriv', [...asUser, program(name), ...args]] as const)
      : ([program(name), args as string[]] as const);

  const data = join(folder, 'data');
  const [initdb, initdbArgs] = run('initdb', '-D', data, '-U', 'tests', '-A', 'trust', '--no-sync', '-E', 'UTF8');
  execFileSync(initdb, initdbArgs, { stdio: 'pipe', cwd: folder });
  // No TCP, and no flushing: nothing here is to outlive the machine.
  const fsync = `fsync=${flushes ? 'on' : 'off'}`;
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, fsync, 'max_connections=200'];
  const [postgres, args] = run('postgres', '-D', data, ...settings.flatMap((setting) => ['-c', setting]));
  let log = '';
  const start = async () => {
    const child = spawn(postgres, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
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
  const kill = () => running.child.kill('SIGQUIT');
  process.once('exit', kill);

  const addressOf = (name: string) => `postgres://tests@localhost/${name}?host=${encodeURIComponent(folder)}`;
  const psql = (url: string, sql: string) =>
    execFileSync('psql', ['-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1', '-c', sql, url], { encoding: 'utf8' }).trim();
  const stopImmediately = async () => {
    kill();
    await running.ended;
  };
  const startAgain = async () => {
    running = await start();
  };
  let made = 0;
  return {
    newDatabase() {
      const name = `test_${++made}`;
      psql(addressOf('postgres'), `create database ${name}`);
      return addressOf(name);
    },
    query: psql,
    stopImmediately,
    start: startAgain,
    async restart() {
      await stopImmediately();
      await startAgain();
    },
    log: () => log,
    async stop() {
      process.off('exit', kill);
      kill();
      await running.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The options of `setpriv` where the tests run as root. */
function unprivileged(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const user = USERS.find((name) => {
    try {
      execFileSync('id', [name], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
  return [`--reuid=${user}`, '--clear-groups'];
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
