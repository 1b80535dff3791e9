/** Several runs at one file, and what killed ones left next to it. */

import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { lazy } from '../../../../src/bytes/reuse.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { type Holder, observeProcesses } from '../../../../src/journal/processes.ts';
import { temporaryNames } from '../../../../src/signing/files/stale-files.ts';
import { fixture, parseJson, runCli, runCliProcess, temporaryFolder } from '../../../support/programs/cli.ts';
import { answer, type Misbehaviour } from '../../../support/services/answering.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { environmentOf } from '../../../support/services/service-client.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { copyInto, makeSignedFiles } from '../../../support/signed-files/signed-files.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

const dead = await deadProcess();
const [server, files] = await Promise.all([forAll(useServer({ tsa: true })), forAll(makeSignedFiles())]);

let folder: string;
let path: string;
beforeEach(async () => {
  const made = await temporaryFolder('codesign-commit-');
  folder = made.path;
  path = await copyInto(folder, files.exe);
  return () => made[Symbol.asyncDispose]();
});

const run = (args: readonly string[]) => runCli([...args, '--json', path], { env: server.env });

it.each(['sign', 'remove'])('%s removes what killed runs left in the folder', async (command) => {
  const names = temporaryNames({
    processes: { self: dead, isRunning: () => undefined },
    randomHex: () => '0123456789abcdef',
    now: () => Date.now(),
    bootTime: 0,
  });
  await writeFile(join(folder, `.codesign-remote-${names.randomName()}.tmp`), 'x');
  const { code } = await run([command]);
  expect([code, await readdir(folder)]).toEqual([0, ['app.exe']]);
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
  expect([outer?.contained.length, await readdir(folder)]).toEqual([signed, ['app.exe']]);
  const reports = server.operations('report-sign').slice(before);
  expect(reports.filter(({ status }) => status === 1)).toHaveLength(signed);
});

describe('two concurrent runs with different inputs and one output', () => {
  let env: Readonly<Record<string, string>>;
  /** Resolves when both runs have planned. Without it, answers are immediate. */
  let bothPlanned: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    const { leaf: issueLeaf, intermediate } = makePki();
    const leaf = issueLeaf();
    const sign: Misbehaviour = async (exchange) => {
      await bothPlanned?.();
      const data = { id: exchange.record, signature: exchange.signature };
      answer(exchange, 200, { code: 0, message: 'ok', data });
    };
    const byName = { app: sign, other: sign };
    const service = await startMisbehavingService('by-file-name', { key: leaf.privateKey, byName });
    const certificate = join(dirname(files.exe), 'two-runs.pem');
    await writeFile(certificate, leaf.pem + intermediate.pem);
    env = { ...environmentOf(service, certificate), CODESIGN_STATE_DIR: join(dirname(files.exe), 'two-runs-state') };
    return () => service.stop();
  });

  const sign = (input: string, output: string, run = runCli) =>
    run(['sign', '--no-timestamp', '--no-journal', '--replace', '--json', input, '-o', output], { env });

  it.each([
    ['absent', undefined],
    ['there', 'an earlier result'],
  ])('that is %s: one succeeds, and the output is its whole result', async (_, earlier) => {
    const inputs = [path, await copyInto(folder, fixture('pe/hello.exe'), 'other.exe')];
    const output = join(folder, 'out.exe');
    const copies = async () => (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
    const results: Buffer[] = [];
    bothPlanned = undefined;
    for (const input of inputs) {
      expect((await sign(input, output)).code).toBe(0);
      results.push(await readFile(output));
    }
    await rm(output, { force: true });
    if (earlier !== undefined) await writeFile(output, earlier);
    bothPlanned = lazy(() => vi.waitFor(async () => expect(await copies()).toHaveLength(2), { timeout: 20_000 }));
    const runs = await Promise.all(inputs.map((input) => sign(input, output, runCliProcess)));
    const codes = runs.map(({ code }) => code);
    expect([...codes].sort()).toEqual([0, 6]);
    const errors = runs.flatMap((one) => parseJson(one).files.flatMap(({ error }) => error?.code ?? []));
    expect(errors).toEqual(['file-changed']);
    const winner = codes.indexOf(0);
    expect((await readFile(output)).equals(results[winner] ?? Buffer.of())).toBe(true);
    expect((await readdir(folder)).sort()).toEqual(['app.exe', 'other.exe', 'out.exe']);
  });
});

/** One that has ended, among those that this one can see. */
async function deadProcess(): Promise<Holder> {
  const { self } = await observeProcesses();
  const { pid } = spawnSync(process.execPath, ['--version']);
  return { ...self, pid, started: self.started === undefined ? undefined : '1' };
}
