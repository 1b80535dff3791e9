/** Several runs at one file, and what killed ones left next to it. */

import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import { type Holder, observeProcesses } from '../../../../src/journal/processes.ts';
import { temporaryNames } from '../../../../src/signing/files/stale-files.ts';
import { parseJson, runCli } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { copyInto, makeSignedFiles } from '../../../support/signed-files/signed-files.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

const dead = await deadProcess();
const [server, files] = await Promise.all([forAll(useServer({ tsa: true })), forAll(makeSignedFiles())]);

const folder = folderForEach();
let path: string;
beforeEach(async () => {
  path = await copyInto(folder.path, files.exe);
});

const run = (args: readonly string[]) => runCli([...args, '--json', path], { env: server.env });

it.each(['sign', 'remove'])('%s removes what killed runs left in the folder', async (command) => {
  const names = temporaryNames({
    processes: { self: dead, isRunning: () => undefined },
    randomHex: () => '0123456789abcdef',
    now: () => Date.now(),
    bootTime: 0,
  });
  await writeFile(folder.at(`.codesign-remote-${names.randomName()}.tmp`), 'x');
  const { code } = await run([command]);
  expect([code, await readdir(folder.path)]).toEqual([0, ['app.exe']]);
});

it('concurrent runs append different signatures to one file: each is in the file or reported as failed', async () => {
  const before = server.operations('report-sign').length;
  const runs = await Promise.all(
    ['One', 'Two', 'Three', 'Four'].map((name) => run(['sign', '--no-timestamp', '--append', '--description', name])),
  );
  const outcomes = runs.flatMap((one) => parseJson(one).files);
  const signed = outcomes.filter(({ status }) => status === 'signed').length;
  expect(signed).toBeGreaterThan(0);
  expect(outcomes.flatMap(({ error }) => error?.code ?? [])).toEqual(new Array(4 - signed).fill('file-changed'));
  const [outer] = await (await openBytes(pe, await readFile(path))).signatures();
  expect([outer?.contained.length, await readdir(folder.path)]).toEqual([signed, ['app.exe']]);
  const reports = server.operations('report-sign').slice(before);
  expect(reports.filter(({ status }) => status === 1)).toHaveLength(signed);
});

/** One that has ended, among those that this one can see. */
async function deadProcess(): Promise<Holder> {
  const { self } = await observeProcesses();
  const { pid } = spawnSync(process.execPath, ['--version']);
  return { ...self, pid, started: self.started === undefined ? undefined : '1' };
}
