/** Bad input, each kind with its exit code, its error code and a hint: nothing is asked of the service, nothing is touched. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CliRun,
  fixture,
  parseJson,
  programForOthers,
  REPOSITORY,
  runCli,
  runCliProcess,
  snapshot,
  temporaryFolder,
} from '../../../support/programs/cli.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';
import { makePki, testKey } from '../../../support/signed-files/pki.ts';

/** A user without rights: no one on every Unix. */
const OTHER_USER = 65534;
const IS_ROOT = process.getuid?.() === 0;
/** Runs what follows with mounts of its own. */
const UNSHARE = ['unshare', '--mount', ...(IS_ROOT ? [] : ['--user', '--map-root-user'])];

const pki = makePki('Bad Input');
const server = await forAll(useServer({ tsa: true }));

interface Options {
  readonly env?: Record<string, string>;
  /** Variables left out of the server's. */
  readonly without?: readonly string[];
  readonly uid?: number;
  readonly program?: string;
  readonly node?: string;
  readonly through?: readonly string[];
}

function sign(args: readonly string[], { without = [], env = {}, ...options }: Options = {}): Promise<CliRun> {
  const given = Object.entries({ ...server.env, ...env }).filter(([name]) => !without.includes(name));
  return runCli(['sign', '--json', ...args], { ...options, env: Object.fromEntries(given) });
}

function mayMount(): boolean {
  const [command = '', ...args] = UNSHARE;
  return spawnSync(command, [...args, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
}

/** The error of the run as a whole, or of its only file. */
function errorOf(run: CliRun) {
  const { error, files } = parseJson(run);
  return error ?? files[0]?.error;
}

/** Runs on a copy of a fixture and holds what is true of all bad input. */
async function refused(
  name: string,
  exitCode: number,
  errorCode: string,
  act: (path: string, folder: string) => Promise<CliRun>,
): Promise<CliRun> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'app.exe');
  await copyFile(fixture(name), path);
  const before = await snapshot(folder.path);
  const requests = server.operations('sign').length;

  const run = await act(path, folder.path);

  expect(errorOf(run)).toMatchObject({ code: errorCode, hint: expect.stringMatching(/./) });
  expect(run.code).toBe(exitCode);
  expect(run.stderr).not.toMatch(/\n\s+at /);
  expect(server.operations('sign').length).toBe(requests);
  const after = await snapshot(folder.path);
  for (const [file, digest] of Object.entries(before)) expect(after[file]).toBe(digest);
  expect(Object.keys(after).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  return run;
}

describe('files', () => {
  it('a missing file: 6', async () => {
    await refused('pe/hello.exe', 6, 'file-not-found', (path) => sign([`${path}.gone`]));
  });

  it('a folder without --recursive: 2', async () => {
    await refused('pe/hello.exe', 2, 'folder-not-recursive', (_, folder) => sign([folder]));
  });

  it('a pattern that matches nothing: 2', async () => {
    await refused('pe/hello.exe', 2, 'nothing-matches', (_, folder) => sign([`${folder}/*.dll`]));
  });

  it('a named pipe: 6, without waiting for a writer', async () => {
    await refused('pe/hello.exe', 6, 'not-a-file', async (_, folder) => {
      execFileSync('mkfifo', [join(folder, 'pipe')]);
      return sign([join(folder, 'pipe')]);
    });
  });

  it.each([
    ['strangers/text.exe', 'unsupported-format'],
    ['strangers/elf.exe', 'unsupported-format'],
    ['strangers/empty.exe', 'unsupported-format'],
    ['pe-malformed/dos.exe', 'not-a-pe'],
    ['pe-malformed/ne.exe', 'not-a-pe'],
  ])('%s is not a PE: 6', async (name, code) => {
    await refused(name, 6, code, (path) => sign([path]));
  });

  it('a read-only target: 6, for root too', async () => {
    await refused('pe/hello.exe', 6, 'read-only-file', async (path) => {
      await chmod(path, 0o444);
      return sign([path]);
    });
  });
});

describe('permissions and space', () => {
  /** What another user needs: the certificate and the roots in the open, the rest as it is. */
  async function openEnvironment(folder: string): Promise<Record<string, string>> {
    const { CODESIGN_CERTIFICATE = '', CODESIGN_CA_FILE = '' } = server.env;
    await copyFile(CODESIGN_CERTIFICATE, join(folder, 'chain.pem'));
    await copyFile(CODESIGN_CA_FILE, join(folder, 'roots.pem'));
    for (const name of ['chain.pem', 'roots.pem']) await chmod(join(folder, name), 0o644);
    return {
      HOME: folder,
      CODESIGN_CERTIFICATE: join(folder, 'chain.pem'),
      CODESIGN_CA_FILE: join(folder, 'roots.pem'),
    };
  }

  it.each([
    ['a file that may not be read', 0o700, 0o755, 'permission-denied'],
    ['a file that may not be written', 0o755, 0o777, 'permission-denied'],
    ['a folder that may not be written', 0o777, 0o755, 'permission-denied'],
  ])('%s: 6, as another user', async (_, fileMode, folderMode, code) => {
    await using room = await temporaryFolder();
    await chmod(room.path, 0o755);
    const copy = await programForOthers();
    const env = await openEnvironment(room.path);
    const folder = join(room.path, 'work');
    await mkdir(folder);
    const path = join(folder, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    // Without root this user is the other one: the owner's bits are the ones that count, and become those of others.
    await chmod(path, IS_ROOT ? fileMode : ((fileMode & 0o7) << 6) | (0o444 * Number((fileMode & 4) !== 0)));
    await chmod(folder, IS_ROOT ? folderMode : 0o500 | ((folderMode & 0o2) << 6));
    const before = await snapshot(folder).catch(() => undefined);
    const run = await sign([path], { env, ...copy, ...(IS_ROOT ? { uid: OTHER_USER } : {}) });
    await chmod(folder, 0o755);
    expect([run.code, ['read-only-file', code].includes(errorOf(run)?.code ?? '')]).toEqual([6, true]);
    if (IS_ROOT) expect(errorOf(run)?.code).toBe(code);
    if (before) expect(await snapshot(folder)).toEqual(before);
  });

  it('an output folder that may not be made: 6, as another user', async () => {
    await using room = await temporaryFolder();
    await chmod(room.path, 0o755);
    const copy = await programForOthers();
    const env = await openEnvironment(room.path);
    const path = join(room.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    await mkdir(join(room.path, 'closed'), { mode: 0o555 });
    const output = join(room.path, 'closed', 'new', 'app.exe');
    const run = await sign([path, '-o', output], { env, ...copy, ...(IS_ROOT ? { uid: OTHER_USER } : {}) });
    expect([run.code, errorOf(run)?.code]).toEqual([6, 'permission-denied']);
  });

  // Containers and hardened systems may let no one mount: there a disk of known size cannot be acquired.
  it.skipIf(!mayMount() && process.env.CI === undefined)(
    'a full disk: 6, before a signature is spent, and the file stays',
    async () => {
      await using room = await temporaryFolder();
      await mkdir(join(room.path, 'disk'));
      const requests = server.operations('sign').length;
      // A file system of 1 MiB of its own, seen by this process alone, with a program on it that leaves no room for a copy.
      const script = `
      mount -t tmpfs -o size=1m tmpfs disk && cp "$PROGRAM" disk/app.exe && head -c 700000 /dev/zero >> disk/app.exe &&
      sha256sum disk/app.exe >&3 && "$@" disk/app.exe; code=$?; sha256sum disk/app.exe >&3; ls -A disk >&3; exit $code`;
      const report = join(room.path, 'report');
      const run = await runCli(['sign', '--json'], {
        through: [...UNSHARE, 'sh', '-c', `cd "${room.path}" && exec 3>report && ${script}`, 'sh'],
        env: { ...server.env, PROGRAM: fixture('pe/hello.exe') },
      });
      const [before, after, ...listed] = (await readFile(report, 'utf8')).trim().split('\n');
      expect(errorOf(run)).toMatchObject({ code: 'disk-full', category: 'local', hint: expect.any(String) });
      expect(run.code).toBe(6);
      expect(after).toBe(before);
      expect(listed).toEqual(['app.exe']);
      expect(server.operations('sign').length).toBe(requests);
    },
  );
});

describe('the certificate', () => {
  it('none given: 2', async () => {
    await refused('pe/hello.exe', 2, 'setting-missing', (path) => sign([path], { without: ['CODESIGN_CERTIFICATE'] }));
  });

  it('a file that is not there: 6', async () => {
    await refused('pe/hello.exe', 6, 'certificate-file-missing', (path) =>
      sign(['--certificate', `${path}.pem`, path]),
    );
  });

  it('a file that is no certificate: 6', async () => {
    await refused('pe/hello.exe', 6, 'certificate-file-unreadable', (path) => sign(['--certificate', path, path]));
  });

  it('expired: 6', async () => {
    await refused('pe/hello.exe', 6, 'certificate-expired', async (path, folder) => {
      const certificate = join(folder, 'chain.pem');
      await writeFile(certificate, pki.leaf({ notAfter: new Date('2021-01-01') }).pem + pki.intermediate.pem);
      return sign(['--certificate', certificate, path]);
    });
  });

  it('a PKCS#12 file without its password: 2', async () => {
    await refused('pe/hello.exe', 2, 'certificate-password-missing', async (path, folder) => {
      const file = join(folder, 'chain.p12');
      const chain = { 'chain.pem': pki.leaf().pem + pki.intermediate.pem };
      const password = ['-passout', 'pass:pass word'];
      await writeFile(file, openssl(['pkcs12', '-export', '-nokeys', '-in', 'chain.pem', ...password], chain));
      return sign(['--certificate', file, path]);
    });
  });

  it('one that does not match the key at the service: 6, one request for three files, reported as failed', async () => {
    await using folder = await temporaryFolder();
    const certificate = join(folder.path, 'chain.pem');
    await writeFile(certificate, pki.leaf({ key: testKey('rsa-3072') }).pem + pki.intermediate.pem);
    const paths = ['a', 'b', 'c'].map((name) => join(folder.path, `${name}.exe`));
    for (const path of paths) await copyFile(fixture('pe/hello.exe'), path);
    const before = await snapshot(folder.path);
    const requests = server.operations('sign').length;
    const reports = server.operations('report-sign').length;

    const run = await sign(['--certificate', certificate, ...paths]);

    expect(run.code).toBe(6);
    expect(
      parseJson(run)
        .files.map(({ error }) => error?.code)
        .sort(),
    ).toEqual(['not-attempted', 'not-attempted', 'signature-mismatch']);
    expect(await snapshot(folder.path)).toEqual(before);
    expect(server.operations('sign').length).toBe(requests + 1);
    expect(server.operations('report-sign').length).toBe(reports + 1);
  });
});

describe('address and credentials', () => {
  it.each([
    ['no access key', { without: ['CODESIGN_ACCESS_KEY'] }, 'credentials-missing'],
    ['no access secret', { without: ['CODESIGN_ACCESS_SECRET'] }, 'credentials-missing'],
    ['an access key with a colon', { env: { CODESIGN_ACCESS_KEY: 'a:b' } }, 'access-key-invalid'],
    [
      'credentials in the address',
      { env: { CODESIGN_BASE_URL: 'https://me:hunter2@localhost' } },
      'base-url-holds-credentials',
    ],
    ['http: to another host', { env: { CODESIGN_BASE_URL: 'http://192.0.2.1' } }, 'base-url-insecure'],
    [
      'http: to a host that only looks like this one',
      { env: { CODESIGN_BASE_URL: 'http://localhost.example' } },
      'base-url-insecure',
    ],
    ['an invalid address', { env: { CODESIGN_BASE_URL: 'sign.example' } }, 'base-url-invalid'],
    ['no address', { without: ['CODESIGN_BASE_URL'] }, 'setting-missing'],
    ['no certificate number', { without: ['CODESIGN_CODE'] }, 'setting-missing'],
    ['TLS checks switched off', { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }, 'tls-checks-disabled'],
    ['a CA file that is not there', { env: { CODESIGN_CA_FILE: '/nowhere/ca.pem' } }, 'ca-file-unreadable'],
  ] as const)('%s: 2', async (_, options, code) => {
    const run = await refused('pe/hello.exe', 2, code, (path) => sign([path], options));
    expect(run.stdout + run.stderr).not.toContain('hunter2');
  });

  it('a wrong secret: 4, one request, and the other files are not attempted', async () => {
    await using folder = await temporaryFolder();
    const paths = ['a', 'b'].map((name) => join(folder.path, `${name}.exe`));
    for (const path of paths) await copyFile(fixture('pe/hello.exe'), path);
    const before = await snapshot(folder.path);
    const run = await sign(paths, { env: { CODESIGN_ACCESS_SECRET: 'not-the-secret' } });
    expect(run.code).toBe(4);
    // Either may be the first to ask.
    expect(
      parseJson(run)
        .files.map(({ error }) => error?.code)
        .sort(),
    ).toEqual(['not-attempted', 'unauthorized']);
    expect(run.stdout + run.stderr).not.toContain('not-the-secret');
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it('a wrong certificate number: rejected, with a hint at --code', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    const before = await snapshot(folder.path);
    const run = await sign(['--code', 'no-such', path]);
    expect([4, 5]).toContain(run.code);
    expect(errorOf(run)?.hint).toMatch(/--code/);
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it('a service that is not there stops the batch: 3', async () => {
    const files = ['pe/hello.exe', 'pe/pe32.exe', 'pe/library.dll'].map(fixture);
    await using folder = await temporaryFolder();
    const run = await sign(['-o', folder.path, ...files], { env: { CODESIGN_BASE_URL: 'https://127.0.0.1:1' } });
    expect(run.code).toBe(3);
    const codes = parseJson(run).files.map(({ error }) => error?.code);
    expect(codes.sort()).toEqual(['not-attempted', 'not-attempted', 'service-unreachable']);
  });
});

describe('usage', () => {
  it.each([
    [['sign'], 'no-files'],
    [['sign', 'x.exe', '--no-such-option'], 'invalid-usage'],
    [['sing', 'x.exe'], 'invalid-usage'],
    [['sign', '-q', '-v', 'x.exe'], 'invalid-usage'],
    [['sign', '--append', '--replace', 'x.exe'], 'settings-conflict'],
    [['sign', '-a', 'MD5', 'x.exe'], 'invalid-setting'],
    [['sign', '-j', '0', 'x.exe'], 'invalid-setting'],
  ])('%j: 2', async (args, code) => {
    const run = await runCli([...args, '--json'], { env: server.env });
    expect([run.code, errorOf(run)?.code]).toEqual([2, code]);
  });

  it('answers --version and --help', async () => {
    const { version } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'));
    expect(await runCliProcess(['--version'])).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
    const help = await runCli(['sign', '--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('--base-url');
  });
});
