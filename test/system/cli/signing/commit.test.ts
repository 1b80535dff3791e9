/** Several runs at one file, and what killed ones left next to it: for every command that changes files. */

import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import { type Holder, observeProcesses } from '../../../../src/journal/processes.ts';
import { lockPathOf, temporaryNames } from '../../../../src/signing/files/target-lock.ts';
import { parseJson, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { startServer, type TestServer } from '../../../support/services/server.ts';
import { copyInto, makeSignedFiles, type SignedFiles } from '../../../support/signed-files/signed-files.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

let server: TestServer;
let files: SignedFiles;
let signature: string;
beforeAll(async () => {
  [server, files] = await Promise.all([startServer({ tsa: true }), makeSignedFiles()]);
  signature = (await runCli(['extract', '--pem', files.exe])).stdout;
});
afterAll(async () => {
  await server.stop();
  await files[Symbol.asyncDispose]();
});

let folder: string;
let path: string;
beforeEach(async () => {
  const made = await temporaryFolder('codesign-commit-');
  folder = made.path;
  path = await copyInto(folder, files.exe);
  return () => made[Symbol.asyncDispose]();
});

/** Each on the file that is given, and what it asks others for. */
const COMMANDS: readonly (readonly [string, (path: string) => readonly string[], 'sign' | undefined])[] = [
  ['sign', (file) => ['sign', '--no-timestamp', file], 'sign'],
  ['sign without a journal', (file) => ['sign', '--no-timestamp', '--no-journal', file], 'sign'],
  ['timestamp', (file) => ['timestamp', file], undefined],
  ['remove', (file) => ['remove', file], undefined],
  ['attach', (file) => ['attach', file, '-'], undefined],
];

const run = (args: readonly string[]) => runCli([...args, '--json'], { env: server.env, stdin: signature });

describe.each(COMMANDS)('%s', (_, argsFor, operation) => {
  const asked = (): number => (operation === undefined ? 0 : server.operations(operation).length);

  it('is rejected immediately while another run is at the file, and sends no request', async () => {
    const { self } = await observeProcesses();
    // As another run within a process that is there: the parent of this one.
    const holder = { ...self, pid: process.ppid, started: await startOf(process.ppid), run: 'other' };
    await writeFile(lockPathOf(path), JSON.stringify(holder));
    const before = [await snapshot(folder), asked()];
    const { code, stdout } = await run(argsFor(path));
    const error = JSON.parse(stdout).files[0].error;
    expect([code, error.code, error.message]).toEqual([
      6,
      'target-busy',
      `another run is writing app.exe: process ${process.ppid}`,
    ]);
    expect([await snapshot(folder), asked()]).toEqual(before);
  });

  it('removes what killed runs left in the folder', async () => {
    const dead = await deadProcess();
    const names = temporaryNames({
      processes: { self: dead, isRunning: async () => undefined },
      randomHex: () => '0123456789abcdef',
      now: () => Date.now(),
      bootTime: 0,
    });
    await writeFile(join(folder, `.codesign-remote-${names.randomName()}.tmp`), 'x');
    await writeFile(lockPathOf(path), JSON.stringify({ ...dead, run: 'left' }));
    await writeFile(lockPathOf(join(folder, 'other.exe')), JSON.stringify({ ...dead, run: 'left too' }));
    const { code } = await run(argsFor(path));
    expect([code, await readdir(folder)]).toEqual([0, ['app.exe']]);
  });
});

describe('several concurrent runs', () => {
  it('append every signature that was paid for, and refuse the others before they ask', async () => {
    const before = server.operations('sign').length;
    const runs = await Promise.all(
      ['One', 'Two', 'Three', 'Four'].map((name) =>
        run(['sign', '--no-timestamp', '--append', '--description', name, path]),
      ),
    );
    const outcomes = runs.flatMap((one) => parseJson(one).files);
    const signed = outcomes.filter(({ status }) => status === 'signed').length;
    const refused = outcomes.flatMap(({ error }) => error?.code ?? []);
    expect(signed).toBeGreaterThan(0);
    expect(refused.filter((code) => code !== 'target-busy' && code !== 'file-changed')).toEqual([]);
    expect(server.operations('sign').length - before).toBe(signed);
    const [outer] = await (await openBytes(pe, await readFile(path))).signatures();
    expect([outer?.nested.length, await readdir(folder)]).toEqual([signed, ['app.exe']]);
  });

  it('do not hinder each other with one input and different outputs', async () => {
    const before = await snapshot(folder);
    const outputs = ['a', 'b', 'c'].map((name) => join(folder, 'out', `${name}.exe`));
    const runs = await Promise.all(outputs.map((output) => run(['remove', path, '-o', output])));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await readdir(join(folder, 'out'))).toEqual(['a.exe', 'b.exe', 'c.exe']);
    expect(await snapshot(folder)).toMatchObject(before);
  });

  it('take no temporary file or lock of another for an input', async () => {
    await mkdir(join(folder, 'in'));
    await copyFile(files.exe, join(folder, 'in', '.codesign-remote-0123456789abcdef.tmp'));
    await copyFile(files.exe, join(folder, 'in', '.codesign-remote-0123456789abcdef.lock'));
    await copyInto(join(folder, 'in'), files.exe);
    const removed = await run(['remove', '--recursive', join(folder, 'in'), '-o', join(folder, 'out')]);
    expect([removed.code, await readdir(join(folder, 'out'))]).toEqual([0, ['app.exe']]);
  });
});

/** As the system reports it: field 22 of /proc/PID/stat; undefined where there is none. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/** One that has ended, among those that this one can see. */
async function deadProcess(): Promise<Holder> {
  const { self } = await observeProcesses();
  const { pid } = spawnSync(process.execPath, ['--version']);
  return { ...self, pid, started: self.started === undefined ? undefined : '1' };
}
