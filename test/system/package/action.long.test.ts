/** The GitHub action: its scripts, run as a runner runs them, against a real server; a failed attempt loses no signature. */

import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pathWithSqlite } from '../../support/node-with-sqlite.ts';
import { fixture, REPOSITORY, runCli, snapshot, temporaryFolder } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { packOnce } from './pack.ts';

const ACTION = join(REPOSITORY, '.github/actions/sign/action.yml');
const NO_AUTHORITY = 'http://127.0.0.1:9/';
const TEXT = await readFile(ACTION, 'utf8');
const [OF_INPUTS = '', ...STEPS] = TEXT.split('\n    - id: ');
/** The inputs with their defaults. */
const INPUTS = Object.fromEntries(
  Array.from(
    OF_INPUTS.split('\noutputs:')[0]?.matchAll(
      /^ {2}([\w-]+):\n(?: {4}(?!default).*\n)*(?: {4}default: '?(.*?)'?$)?/gm,
    ) ?? [],
    ([, name = '', value = '']) => [name, value],
  ),
);

type Values = Readonly<Record<string, string>>;

/** A line of a step that has this key. */
function lineOf(id: string, key: string): string {
  const step = STEPS.find((one) => one.startsWith(`${id}\n`)) ?? '';
  return new RegExp(`^ {6}${key}: (.*)$`, 'm').exec(step)?.[1] ?? expect.unreachable(`${id} has no ${key}`);
}

function environmentOf(id: string): readonly (readonly [name: string, value: string])[] {
  const [, environment = ''] = STEPS.find((one) => one.startsWith(`${id}\n`))?.split('\n      env:\n') ?? [];
  return Array.from(environment.matchAll(/^ {8}(\w+): (.*)$/gm), ([, name = '', value = '']) => [name, value]);
}

/** Runs a step as the runner starts what says `shell: bash`. `expressions`: what stands for each `${{ … }}`. */
async function runStep(id: string, expressions: Values, more: Values) {
  const inFolder = (name: string) => join(more.RUNNER_TEMP ?? '', name);
  const files = { GITHUB_OUTPUT: inFolder('output'), GITHUB_STEP_SUMMARY: inFolder('sum') };
  for (const path of Object.values(files)) await writeFile(path, '');
  await writeFile(inFolder('step.sh'), lineOf(id, 'run'));
  const own = environmentOf(id).map(([name, value]) => {
    const evaluate = (_: string, expression: string) => expressions[expression] ?? expect.unreachable(expression);
    return [name, value.replaceAll(/\$\{\{ *(.*?) *\}\}/g, evaluate)] as const;
  });
  const env = {
    PATH: pathWithSqlite(),
    ...more,
    ...Object.fromEntries(own),
    GITHUB_ACTION_PATH: dirname(ACTION),
    ...files,
  };
  const bash = { node: 'bash', program: '--noprofile' };
  const run = await runCli(['--norc', '-e', '-o', 'pipefail', inFolder('step.sh')], { ...bash, env });
  const lines = (await readFile(files.GITHUB_OUTPUT, 'utf8')).split('\n').filter((line) => line !== '');
  const outputs: Values = Object.fromEntries(lines.map((line) => line.split(/=(.*)/)));
  const summary = await readFile(files.GITHUB_STEP_SUMMARY, 'utf8');
  return { code: run.code, log: run.stdout + run.stderr, outputs, summary };
}

const [server, room] = await Promise.all([forAll(useServer({ tsa: true })), forAll(temporaryFolder())]);
/** What the installing step makes. */
const installed = join(room.path, 'installed');
await mkdir(installed);
const { tarball } = await packOnce();
const installing = { RUNNER_TEMP: installed, npm_config_offline: 'true' };
expect(await runStep('install', { 'inputs.package': tarball }, installing)).toMatchObject({ code: 0 });

/** A machine of its own: what an earlier one has kept, and two files as they were built. */
async function startMachine(name: string): Promise<string> {
  const workspace = join(room.path, name);
  await mkdir(workspace);
  await copyFile(fixture('pe/hello.exe'), join(workspace, 'app.exe'));
  await copyFile(fixture('jar/plain.jar'), join(workspace, 'lib.jar'));
  return workspace;
}

/** The step that signs, with these inputs. */
async function sign(workspace: string, inputs: Readonly<Record<string, string>>) {
  const given = Object.entries({ ...INPUTS, ...inputs }).map(([name, value]) => [`inputs.${name}`, value]);
  const { CODESIGN_TIMESTAMP_URL: _, ...env } = server.env;
  const job = { ...env, GITHUB_ACTIONS: 'true', RUNNER_TEMP: installed, WORKSPACE: workspace };
  return await runStep('sign', { ...Object.fromEntries(given), 'runner.temp': installed }, job);
}

describe('the metadata', () => {
  it('passes values to scripts only through the environment', () => {
    const scripts = STEPS.flatMap((step) => /^ {6}run: (.*)$/m.exec(step)?.[1] ?? []);
    expect(scripts.length).toBeGreaterThan(2);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });

  it('takes no credentials as inputs, and uses every input', () => {
    const names = Object.keys(INPUTS);
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => /key|secret|password|token/.test(name))).toEqual([]);
    expect(names.filter((name) => !TEXT.includes(`\${{ inputs.${name} }}`))).toEqual([]);
  });

  it('sets every variable that its program reads, and no other', async () => {
    const program = await readFile(join(ACTION, '../sign.mjs'), 'utf8');
    const named = program.matchAll(/SIGN_([A-Z_]+)\b/g);
    const settings = /for \(const name of \[(.*)\]\)/.exec(program)?.[1]?.match(/[A-Z_]+/g) ?? [];
    const read = new Set([...Array.from(named, ([, name]) => name), ...settings]);
    const set = environmentOf('sign').flatMap(([name]) => (name.startsWith('SIGN_') ? [name] : []));
    expect([...read].map((name) => `SIGN_${name}`).sort()).toEqual(set.sort());
  });

  it.each(['keep', 'upload'])('keeps the state unless it knows that nothing is unfinished: %s', (id) => {
    expect(lineOf(id, 'if')).toMatch(/always\(\).*steps\.sign\.outputs\.keep != 'false'/);
  });
});

describe('an attempt', () => {
  it('signs, says so, and leaves nothing to be kept', async () => {
    const workspace = await startMachine('good');
    const files = `${workspace}/*.exe\n\n  ${workspace}/lib.jar\n`;
    const run = await sign(workspace, { files, 'timestamp-url': server.env.CODESIGN_TIMESTAMP_URL ?? '' });
    expect(run.code, run.log).toBe(0);
    expect(run.outputs).toEqual({
      signed: '2',
      skipped: '0',
      failed: '0',
      json: join(installed, 'codesign-signing.json'),
      'exit-code': '0',
      keep: 'false',
    });
    const { files: signed } = JSON.parse(await readFile(run.outputs.json ?? '', 'utf8'));
    for (const { status, timestamp } of signed) {
      expect({ status, timestamp }).toEqual({ status: 'signed', timestamp: expect.any(String) });
    }
    expect(run.summary.match(/^\| --- .*$/gm)).toHaveLength(1);
    expect(run.summary).toContain('app.exe');

    const again = await sign(workspace, { files, 'skip-signed': 'true', arguments: '--no-timestamp\n--quiet' });
    expect(again.outputs).toMatchObject({ signed: '0', skipped: '2', keep: 'false' });
  });

  it('annotates each failed file, in one summary', async () => {
    const workspace = await startMachine('annotated');
    for (const name of ['one.exe', 'two.exe']) await writeFile(join(workspace, name), 'text');
    const run = await sign(workspace, { files: `${workspace}/one.exe\n${workspace}/two.exe\n${workspace}/gone.exe` });
    const annotated = [...run.log.matchAll(/^::error file=(.*?),/gm)].map(([, file]) => file);
    expect(annotated).toEqual(['one.exe', 'two.exe', 'gone.exe'].map((name) => join(workspace, name)));
    expect(run.summary.match(/^\| --- .*$/gm)).toHaveLength(1);
  });

  it('that fails leaves its state, with which the next one sends no request again', async () => {
    const before = server.operations('sign').length;
    const first = await startMachine('failing');
    const failed = await sign(first, { files: `${first}/app.exe`, algorithm: 'SHA384', 'timestamp-url': NO_AUTHORITY });
    expect(failed.code, failed.log).toBe(0);
    expect(failed.outputs).toMatchObject({ signed: '0', failed: '1', 'exit-code': '7', keep: 'true' });
    expect(failed.summary).toContain('timestamp&#45;failed');
    expect(server.operations('sign').length).toBe(before + 1);

    // Another machine, which has got the folder back, and builds the file again.
    const second = await startMachine('second');
    const url = server.env.CODESIGN_TIMESTAMP_URL ?? '';
    const run = await sign(second, { files: `${second}/app.exe`, algorithm: 'SHA384', 'timestamp-url': url });
    expect(run.outputs).toMatchObject({ signed: '1', failed: '0', 'exit-code': '0', keep: 'false' });
    expect(JSON.parse(await readFile(run.outputs.json ?? '', 'utf8')).files).toMatchObject([{ reused: true }]);
    expect(server.operations('sign').length).toBe(before + 1);
  });

  it('writes no file of an earlier attempt without its required timestamp', async () => {
    const url = server.env.CODESIGN_TIMESTAMP_URL ?? '';
    const first = await startMachine('unstamped');
    const waiting = { files: `${first}/app.exe`, algorithm: 'SHA512' };
    await sign(first, { ...waiting, 'timestamp-url': NO_AUTHORITY });
    const before = await snapshot(first);

    const second = await startMachine('stamped');
    const run = await sign(second, { files: `${second}/lib.jar`, arguments: `--timestamp-url=${url}` });
    expect(run.outputs, run.log).toMatchObject({ signed: '1', 'exit-code': '0', keep: 'true' });
    expect(await snapshot(first)).toEqual(before);

    const last = await sign(first, { ...waiting, 'timestamp-url': url });
    expect(last.outputs, last.log).toMatchObject({ signed: '1', 'exit-code': '0', keep: 'false' });
  });

  it('says why nothing could be attempted, and ends the job with the code of the program', async () => {
    const workspace = await startMachine('unusable');
    const run = await sign(workspace, { files: `${workspace}/app.exe`, 'base-url': 'http://codesign.example.com' });
    expect(run.outputs).toMatchObject({ signed: '0', 'exit-code': '2', keep: 'true' });
    expect(run.summary).toMatch(/^Nothing was signed: /);
    const code = { 'steps.sign.outputs.exit-code': run.outputs['exit-code'] ?? '' };
    expect(await runStep('end', code, { RUNNER_TEMP: installed })).toMatchObject({ code: 2 });
  });

  it('verifies only, by a policy, without a request', async () => {
    const before = server.operations('sign').length;
    const workspace = await startMachine('verified');
    await copyFile(fixture('golden/sha256-rsa2048.exe'), join(workspace, 'signed.exe'));
    const policy = join(workspace, 'policy.json');
    await writeFile(policy, JSON.stringify({ version: 1, roots: [fixture('golden/root.pem')] }));
    const inputs = { 'verify-only': 'true', arguments: `--policy=${policy}\n--exclude=policy.json` };
    const good = await sign(workspace, { ...inputs, files: `${workspace}/signed.exe` });
    expect(good.outputs, good.log).toMatchObject({ failed: '0', 'exit-code': '0', keep: 'false' });
    const bad = await sign(workspace, { ...inputs, files: workspace });
    expect(bad.outputs, bad.log).toMatchObject({ failed: '1', 'exit-code': '8', keep: 'false' });
    expect(bad.log).toContain(`::error file=${workspace}/app.exe,title=unsigned::`);
    expect(server.operations('sign').length).toBe(before);
  });

  it('treats names and arguments as plain text', async () => {
    const workspace = await startMachine('names');
    const name = '--json $(touch stolen) `touch stolen` ; touch stolen | <b>.exe';
    await writeFile(join(workspace, name), await readFile(fixture('pe/hello.exe')));
    const before = await snapshot(workspace);
    const run = await sign(workspace, {
      files: `${join(workspace, name)}\n--dry-run`,
      arguments: '--dry-run\n--no-timestamp',
    });
    // What stands among the files is one, even if it looks like an option.
    expect(run.outputs).toMatchObject({ signed: '0', failed: '1', 'exit-code': '6' });
    expect(run.summary).toContain('file&#45;not&#45;found');
    expect(run.summary).not.toMatch(/<b>|\| <|`/);
    expect(await snapshot(workspace)).toEqual(before);
    expect(await readdir(workspace)).toHaveLength(3);
  });
});
