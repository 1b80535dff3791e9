/** What `npm pack` makes: installable offline into an empty folder, typed for consumers. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { describe, expect, it } from 'vitest';
import { projectSchema } from '../../../docs/generate/settings-schema.ts';
import { REPOSITORY, runCli } from '../../support/programs/cli.ts';
import { startSecretService } from '../../support/programs/secret-service.ts';
import { folderForAll } from '../../support/set-up.ts';
import { npm as npmWith, packOnce } from './pack.ts';

if (!existsSync(path.join(REPOSITORY, 'dist/cli.cjs'))) throw new Error('dist is missing: run `npm run build` first');
const folder = folderForAll();
const project = path.join(folder, 'project');
const npm = (args: readonly string[], cwd: string) => npmWith(args, cwd, path.join(folder, 'npm-cache'));
const { tarball } = await packOnce();
await mkdir(project);
await npm(['install', '--offline', '--no-audit', '--no-fund', tarball], project);

describe('the packed package', () => {
  it.skipIf(process.platform === 'win32')(
    'brings its manual page to where man finds it when it is installed globally',
    async () => {
      const prefix = path.join(folder, 'global');
      await npm(['install', '--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund', tarball], folder);
      expect(existsSync(path.join(prefix, 'share/man/man1/codesign-remote.1'))).toBe(true);
    },
  );

  it('has the schema of the project file at the path that the documents show', async () => {
    const [, shown = ''] =
      /"\$schema": "(.*?)"/.exec(await readFile(path.join(REPOSITORY, 'docs/configuration.md'), 'utf8')) ?? [];
    expect(JSON.parse(await readFile(path.join(project, shown), 'utf8'))).toEqual(projectSchema());
  });

  it('hands on a notice for each package inside, and none of the server', async () => {
    const notices = await readFile(
      path.join(project, 'node_modules/codesign-remote/dist/THIRD-PARTY-NOTICES.txt'),
      'utf8',
    );
    const named = [...notices.matchAll(/^(@?[\w./-]+) \d+\.\d+\.\d+\S* \(/gm)].map(([, name]) => name);
    expect(named).toEqual(expect.arrayContaining(['commander', 'node-forge', 'valibot']));
    expect(named).not.toEqual(expect.arrayContaining(['fastify']));
    expect(notices).toMatch(/Permission is hereby granted/);
  });
});

describe('installed offline into an empty folder, it', () => {
  it('installs no other package', async () => {
    const lock = JSON.parse(await readFile(path.join(project, 'package-lock.json'), 'utf8')) as { packages: object };
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/codesign-remote']);
  });

  it('has the version of the package', async () => {
    const { version } = JSON.parse(await readFile(path.join(REPOSITORY, 'package.json'), 'utf8'));
    const run = await runCli(['--version'], { program: binIn(project) });
    expect(run).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('works without the optional one, and says so where credentials would come from it', async () => {
    const run = await runCli(['whoami'], { program: binIn(project) });
    const stderr = expect.stringMatching(/keytar is not installed.*keychain-unavailable/);
    expect(run).toMatchObject({ code: 2, stderr });
    expect(run.stderr).toContain('CODESIGN_ACCESS_SECRET_FILE');
  });

  it('prints an uncaught error with a readable stack', async () => {
    const script = "import('codesign-remote').then(({ signFiles }) => signFiles({ files: ['a.exe'] }))";
    const { status, stderr } = evaluate(script);
    expect(status).toBe(1);
    expect(stderr).toMatch(/CodesignError: missing setting: .*\n +at \w+ /);
    const source = stderr.slice(0, stderr.indexOf('CodesignError'));
    expect(Math.max(...source.split('\n').map((line) => line.length))).toBeLessThan(200);
  });

  it('resolves with its types, from every entry point', async () => {
    const checked = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
    if (checked.types === false) throw new Error('the package has no types');
    expect(Object.keys(checked.entrypoints)).toEqual(DOORS);
    // The default of an ES module that is required: see the next test.
    expect(checked.problems.filter((problem) => problem.kind !== 'FalseExportDefault')).toEqual([]);
  });

  it.each(['codesign-remote/electron-builder', 'codesign-remote/electron-windows-sign'])(
    'has %s for require() and import()',
    async (door) => {
      const script = `const hook = require('${door}');
        import('${door}').then(({ default: sign }) => console.log(typeof sign, sign === hook.default, hook.__esModule))`;
      expect(evaluate(script).stdout).toBe('function true true\n');
    },
  );

  it.each([
    ['module', 'node16', 'node16'],
    ['commonjs', 'node16', 'node16'],
    // Only TypeScript 6 and earlier have this one.
    ['commonjs', 'commonjs', 'node10', '--ignoreDeprecations', '6.0'],
  ])('gives its types to a project of type %s with module %s', async (type, module, resolution, ...more) => {
    const consumer = path.join(project, `${type}-${module}`);
    await mkdir(consumer);
    await writeFile(path.join(consumer, 'package.json'), JSON.stringify({ type }));
    await writeFile(path.join(consumer, 'good.ts'), GOOD_CONSUMER);
    await writeFile(path.join(consumer, 'bad.ts'), BAD_CONSUMER);
    const errors = typeErrors(consumer, ['--module', module, '--moduleResolution', resolution, ...more]);
    expect(errors).toEqual([expect.stringMatching(/^bad\.ts\(2,14\): error TS2322/)]);
  });
});

const DOORS = ['.', './electron-builder', './electron-windows-sign', './package.json'];

describe('installed with the optional package, without any script of that having run, it', () => {
  it('names that package by the version that is tried here', async () => {
    const { optionalDependencies } = JSON.parse(
      await readFile(path.join(project, 'node_modules/codesign-remote/package.json'), 'utf8'),
    ) as { optionalDependencies: object };
    expect(optionalDependencies).toEqual({ keytar: expect.stringMatching(/^npm:@github\/keytar@\^\d/) });
  });

  it.runIf(process.platform === 'linux')('has a keychain', async () => {
    const modules = path.join(folder, 'with-keychain', 'node_modules');
    await cp(path.join(project, 'node_modules/codesign-remote'), path.join(modules, 'codesign-remote'), {
      recursive: true,
    });
    // What its install script would make: it must not be needed.
    const isBuilt = (source: string) => path.basename(source) === 'build';
    await cp(path.join(REPOSITORY, 'node_modules/keytar'), path.join(modules, 'keytar'), {
      recursive: true,
      filter: (source) => !isBuilt(source),
    });
    await using keyring = await startSecretService();
    const env = { ...keyring.env, CODESIGN_CONFIG_DIR: path.join(folder, 'with-keychain', 'config') };
    const program = binIn(path.dirname(modules));
    const login = ['login', '--no-check', '--base-url', 'https://sign.example', '--access-key', 'key-of-somebody'];
    expect(await runCli(login, { program, env, stdin: 's3cret\n' })).toMatchObject({ code: 0 });
    const { stdout } = await runCli(['whoami', '--json'], { program, env });
    expect(JSON.parse(stdout)).toMatchObject({ source: 'keychain', origin: 'https://sign.example' });
  });
});

/** Runs a script in the project, without the settings of the user who runs the tests. */
function evaluate(script: string) {
  const env = { PATH: process.env.PATH };
  return spawnSync(process.execPath, ['--eval', script], { cwd: project, env, encoding: 'utf8' });
}

function binIn(folder: string): string {
  return path.join(folder, 'node_modules/codesign-remote/bin/codesign-remote.js');
}

const GOOD_CONSUMER = `
import { CodesignError, type SigningEvent, signFiles, verifyFile } from 'codesign-remote';
import { sign as builderHook, type WindowsSignTask } from 'codesign-remote/electron-builder';
import windowsSignHook from 'codesign-remote/electron-windows-sign';
export const hooks = [builderHook, windowsSignHook] as const;
export const task: WindowsSignTask = { path: 'app.exe', hash: 'sha256', options: { signtoolOptions: null } };
export function namesOf(events: readonly SigningEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'file-finished' || event.outcome.status !== 'signed') return [];
    return [event.outcome.record ?? event.outcome.path];
  });
}
export async function examine(path: string, signal: AbortSignal): Promise<string | null> {
  const { files } = await signFiles({ files: [path, { path, output: 'out' }], signal, concurrency: 2, env: process.env });
  const [first] = files;
  if (first?.status === 'failed') return first.error.code;
  return (await verifyFile(path, { requireTimestamp: true })).verdict;
}
export function codeOf(thrown: unknown): string {
  return thrown instanceof CodesignError ? thrown.code : 'unknown';
}
`;
const BAD_CONSUMER = `import { CodesignError } from 'codesign-remote';
export const wrong: number = CodesignError;
`;

/** Errors of the compiler in both consumers; the declarations themselves are checked too. */
function typeErrors(cwd: string, module: readonly string[]): string[] {
  const tsc = path.join(
    REPOSITORY,
    'node_modules',
    module.includes('node10') ? 'typescript' : 'typescript-7',
    'bin/tsc',
  );
  const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2023', ...module];
  const types = ['--typeRoots', path.join(REPOSITORY, 'node_modules/@types'), '--types', 'node'];
  const args = [tsc, ...options, ...types, 'good.ts', 'bad.ts'];
  const { stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}
