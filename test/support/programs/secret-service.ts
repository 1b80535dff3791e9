/** A real Secret Service for tests: GNOME's keyring on a message bus of its own, with nothing of this user's in reach. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lazy } from '../../../src/bytes/reuse.ts';

/**
 * `unlocked`: as after a login to a desktop. `locked`: it holds what `before` stored, and no one has typed its password.
 * `no-collection`: a machine whose keyring was never set up. `no-daemon`: a message bus, and no keyring on it.
 */
export type SecretServiceState = 'unlocked' | 'locked' | 'no-collection' | 'no-daemon';

export interface SecretService extends AsyncDisposable {
  /** What leads a program to it, with a home folder of its own. */
  readonly env: Readonly<Record<'HOME' | 'XDG_DATA_HOME' | 'XDG_RUNTIME_DIR' | 'DBUS_SESSION_BUS_ADDRESS', string>>;
  /** Everything it keeps is in here, and the home folder. */
  readonly folder: string;
}

export interface SecretServiceOptions {
  readonly state?: SecretServiceState;
  /** Runs against the unlocked keyring, before it is started again in its state. */
  readonly before?: (service: SecretService) => Promise<void>;
}

const PASSWORD = 'keyring password';
const PATIENCE = 20_000;

/** No service is started by a call for it, so that nothing but what a test has started answers. */
function busIn(folder: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=${folder}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
}

/** Fails where the programs are missing, with how to get them. */
export async function startSecretService(options: SecretServiceOptions = {}): Promise<SecretService> {
  const { state = 'unlocked', before } = options;
  requirePrograms();
  const folder = await mkdtemp(join(tmpdir(), 'codesign-keyring-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    if (before !== undefined) {
      await using service = await start(folder, 'unlocked');
      await before(service);
    }
    const service = await start(folder, state);
    return {
      ...service,
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]();
        await removeFolder();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function start(folder: string, state: SecretServiceState): Promise<SecretService> {
  const [home, data, runtime] = [join(folder, 'home'), join(folder, 'data'), join(folder, 'run')];
  for (const path of [home, data, runtime]) await mkdir(path, { recursive: true });
  await chmod(runtime, 0o700);
  const config = join(folder, 'bus.conf');
  await writeFile(config, busIn(folder));
  const running: ChildProcess[] = [];
  const stop = async () => {
    for (const child of running.reverse()) await ended(child);
  };
  try {
    const bus = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--nopidfile', '--print-address=1'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    running.push(bus);
    const [address] = (await once(bus.stdout.setEncoding('utf8'), 'data')) as [string];
    const env = { HOME: home, XDG_DATA_HOME: data, XDG_RUNTIME_DIR: runtime, DBUS_SESSION_BUS_ADDRESS: address.trim() };
    if (state !== 'no-daemon') running.push(await startKeyring(env, state === 'unlocked'));
    return { env, folder, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startKeyring(env: SecretService['env'], isUnlocked: boolean): Promise<ChildProcess> {
  const mode = isUnlocked ? ['--unlock'] : [];
  const daemon = spawn(
    await runnable('gnome-keyring-daemon', env.HOME),
    ['--foreground', '--components=secrets', ...mode],
    { env: { PATH: process.env.PATH, ...env }, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  daemon.stdin.on('error', () => undefined).end(isUnlocked ? PASSWORD : '');
  const deadline = Date.now() + PATIENCE;
  while (!hasOwner(env)) {
    if (Date.now() > deadline || daemon.exitCode !== null) {
      daemon.kill('SIGKILL');
      throw new Error(`gnome-keyring-daemon did not come up (exit code ${daemon.exitCode})`);
    }
    await sleep(50);
  }
  return daemon;
}

function hasOwner(env: SecretService['env']): boolean {
  const object = ['--dest=org.freedesktop.DBus', '/org/freedesktop/DBus'];
  const question = ['org.freedesktop.DBus.NameHasOwner', 'string:org.freedesktop.secrets'];
  const { stdout } = spawnSync('dbus-send', ['--session', '--print-reply', ...object, ...question], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  return stdout.includes('boolean true');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/**
 * The program, or a copy of it: Debian gives it the right to keep memory from being swapped out, and where a container
 * does not have that right, the system refuses to run it. A copy has no rights of its own.
 */
async function runnable(name: string, folder: string): Promise<string> {
  const { error } = spawnSync(name, ['--version'], { stdio: 'ignore' });
  if (!(error && 'code' in error && error.code === 'EPERM')) return name;
  const copy = join(folder, name);
  const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
  await copyFile(path, copy);
  await chmod(copy, 0o700);
  return copy;
}

const requirePrograms = lazy((): void => {
  const missing = ['dbus-daemon', 'dbus-send', 'gnome-keyring-daemon'].filter((name) =>
    isMissing(spawnSync(name, ['--version'], { stdio: 'ignore' }).error),
  );
  if (missing.length === 0) return;
  throw new Error(`${missing.join(', ')} missing: apt-get install dbus gnome-keyring libsecret-1-0`);
});

function isMissing(error: Error | undefined): boolean {
  return error !== undefined && 'code' in error && error.code === 'ENOENT';
}
