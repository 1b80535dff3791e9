/**
 * Builds the images of server and client with podman, and signs a file with both. CODESIGN_TEST_BASE_IMAGE names a base with
 * Node.js and npm. Without it, no registry is needed: the programs of the base are those of this machine, mounted at /usr.
 */

import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fixture, REPOSITORY, temporaryFolder } from '../../../test/support/programs/cli.ts';
import { isInSample } from '../../../test/support/sample.ts';
import { listening } from '../../../test/support/services/server.ts';

const run = promisify(execFile);
const GIVEN = process.env.CODESIGN_TEST_BASE_IMAGE;
const NAME = `localhost/codesign-test-${process.pid}`;
const VOLUME = `codesign-test-${process.pid}`;
const PORT = '18443';
// crun rejects machines with both versions of cgroups.
const RUNTIME = spawnSync('runc', ['--version']).status === 0 ? ['--runtime=runc'] : [];
const hasPodman = spawnSync('podman', ['info']).status === 0;

const podman = async (args: readonly string[]) =>
  (await run('podman', [...RUNTIME, ...args], { cwd: REPOSITORY })).stdout;

/** Mounted if no base is given. The client needs a Node.js with SQLite. */
const newestNode = join(process.env.CODESIGN_TEST_NODES ?? '', '26/node_modules/node/bin/node');
const mounts = [
  '--volume=/usr:/usr:ro',
  ...(existsSync(newestNode) ? [`--volume=${newestNode}:${process.execPath}:ro`] : []),
].filter(() => GIVEN === undefined);

/** The files outside /usr that Debian's programs need. */
const OUTSIDE_USR = [
  'bin sbin lib lib64 var/lib/dpkg var/cache/apt/archives/partial var/lib/apt/lists/partial',
  'etc/alternatives etc/apt etc/group etc/ld.so.cache etc/login.defs etc/passwd etc/ssl',
].flatMap((names) => names.split(' '));

async function baseImage(folder: string): Promise<string> {
  if (GIVEN !== undefined) return GIVEN;
  const archive = join(folder, 'base.tar');
  await run('tar', ['-C', '/', '-cf', archive, '--no-recursion', 'tmp', '--recursion', ...OUTSIDE_USR]);
  await podman(['import', '--quiet', archive, `${NAME}-base`]);
  return `${NAME}-base`;
}

async function build(target: 'client' | 'server', base: string, folder: string): Promise<void> {
  const settings = join(folder, 'npmrc');
  const ofUser = await readFile(join(homedir(), '.npmrc'), 'utf8').catch(() => '');
  await writeFile(settings, `${ofUser}\nprefer-offline=true\n`);
  const cache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim();
  await podman([
    ...['build', '--isolation=chroot', '--network=host', '--file=server/deploy/Containerfile'],
    ...[`--build-arg=BASE=${base}`, `--target=${target}`, `--tag=${NAME}-${target}`],
    ...mounts,
    ...[
      `--volume=${settings}:/root/.npmrc:ro`,
      `--volume=${cache}:/root/.npm`,
      '--volume=/etc/ssl/certs:/etc/ssl/certs:ro',
    ],
    '.',
  ]);
}

/** The options that the documents show, and limits that a process without CAP_SYS_RESOURCE may set. */
const RESTRICTED = [
  ...['run', '--rm', '--read-only', '--cap-drop=all', '--security-opt=no-new-privileges', '--network=host'],
  ...['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'],
  ...mounts,
];

test.skipIf(!hasPodman || !isInSample(2))(
  'the client signs through the server, both as images with a read-only root',
  async () => {
    await using folder = await temporaryFolder();
    const base = await baseImage(folder.path);
    try {
      await build('server', base, folder.path);
      await build('client', base, folder.path);

      const start = ['start', '--port', PORT, '--client-env', '/data/client.env'];
      const name = `--name=${VOLUME}`;
      const args = [...RUNTIME, ...RESTRICTED, name, `--volume=${VOLUME}:/data`, `${NAME}-server`, ...start];
      const server = spawn('podman', args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = once(server, 'exit');
      let log = '';
      server.stderr.on('data', (text) => (log += text));
      try {
        await listening(server, () => log);
        expect(await podman(['exec', VOLUME, 'id', '--user'])).toBe('10001\n');

        const work = join(folder.path, 'work');
        await mkdir(work);
        await chmod(work, 0o777);
        await copyFile(fixture('pe/hello.exe'), join(work, 'app.exe'));
        await chmod(join(work, 'app.exe'), 0o666);
        const variables = await podman(['exec', VOLUME, 'cat', '/data/client.env']);
        const env = [...variables.matchAll(/^([A-Z_]+)='(.*)'$/gm)].map(
          ([, key, value = '']) => `--env=${key}=${value.replace(/^\/data/, '/server')}`,
        );
        const client = [
          ...RESTRICTED,
          ...env,
          `--volume=${VOLUME}:/server:ro`,
          `--volume=${work}:/work`,
          `${NAME}-client`,
        ];
        await podman([...client, 'sign', '--no-timestamp', 'app.exe']);
        await writeFile(
          join(work, 'root.pem'),
          await podman(['exec', VOLUME, 'cat', '/data/service/certificates/ca.pem']),
        );
        await run('osslsigncode', ['verify', '-CAfile', join(work, 'root.pem'), join(work, 'app.exe')]);
      } finally {
        server.kill('SIGTERM');
      }
      expect(await ended).toEqual([0, null]);
    } finally {
      await podman(['volume', 'rm', '--force', VOLUME]);
      await podman(['rmi', '--force', `${NAME}-server`, `${NAME}-client`, ...(GIVEN === undefined ? [base] : [])]);
    }
  },
);
