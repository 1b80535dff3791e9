import { chmod, readdir, readFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { fixture, parseJson, snapshot } from '../support/programs/cli.ts';
import type { PtyHand } from '../support/programs/pty.ts';
import {
  type HeldFile,
  holdOpen,
  runWindowsCli,
  runWindowsCliOnTerminal,
  SHARE,
  windowsPath,
  windowsVariables,
} from '../support/programs/windows.ts';
import { type Scene, startScene } from '../support/runs/resume-scene.ts';
import { answer } from '../support/services/answering.ts';

/** The scene of `resume`, for a Windows program. Each answer of the service waits for `beforeAnswer`. */
async function scene(beforeAnswer: (file: string) => Promise<unknown> = async () => undefined) {
  const place: Scene = await startScene('by-file-name', {
    byName: {
      app: async (exchange) => {
        await beforeAnswer(place.path);
        const data = { id: exchange.record, signature: exchange.signature };
        answer(exchange, 200, { code: 0, message: 'ok', data });
      },
    },
  });
  const env = windowsVariables(place.env);
  return { ...place, env, run: (...args: readonly string[]) => runWindowsCli(args, { env }) };
}

const ORIGINAL = await readFile(fixture('pe/hello.exe'));
const signing = (file: string) => ['sign', '--no-timestamp', '--json', windowsPath(file)];

it.each([
  ['nothing', SHARE.nothing],
  ['reading and writing, as programs in C and Python do', SHARE.readWrite],
])('rejects a file whose holder allows %s, before any request', async (_, share) => {
  await using place = await scene();
  await using _held = await holdOpen(place.path, share);
  const run = await place.run(...signing(place.path));
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'file-busy']);
  expect(place.service.signRequests()).toBe(0);
  expect(await readFile(place.path)).toEqual(ORIGINAL);
});

it('waits for a file that is held for a moment when the signed one takes its place', async () => {
  let held: HeldFile | undefined;
  await using place = await scene(async (file) => {
    held = await holdOpen(file, SHARE.read);
    setTimeout(() => void held?.release(), 300);
  });
  const run = await place.run(...signing(place.path));
  await held?.[Symbol.asyncDispose]();
  expect([run.code, parseJson(run).summary.signed, place.service.signRequests()]).toEqual([0, 1, 1]);
  expect(await readFile(place.path)).not.toEqual(ORIGINAL);
});

it('keeps the file and the signature if the file stays held, and uses the signature later', async () => {
  let held: HeldFile | undefined;
  await using place = await scene(async (file) => {
    held ??= await holdOpen(file, SHARE.all);
  });
  const run = await place.run(...signing(place.path));
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'file-busy']);
  expect(await readFile(place.path)).toEqual(ORIGINAL);
  await held?.[Symbol.asyncDispose]();
  const left = Object.keys(await snapshot(place.folder)).filter((path) => !path.includes('/state/'));
  expect(left.map((path) => path.slice(place.folder.length + 1))).toEqual(['app.exe', 'chain.pem']);

  const resumed = await place.run('resume', '--no-timestamp');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  expect(await readFile(place.path)).not.toEqual(ORIGINAL);
  expect(place.service.signRequests()).toBe(1);
});

it('lets one of two runs sign a file, with one request', async () => {
  let second: ReturnType<typeof runWindowsCli> | undefined;
  await using place: Awaited<ReturnType<typeof scene>> = await scene(async (file) => {
    second ??= place.run(...signing(file));
    const copies = async () => (await readdir(place.folder)).filter((name) => name.endsWith('.tmp'));
    await vi.waitFor(async () => expect(await copies()).toHaveLength(2), { timeout: 60_000, interval: 200 });
  });
  const first = await place.run(...signing(place.path));
  const outcomes = [first, await second].flatMap((run) => (run ? parseJson(run).files : []));
  expect(outcomes.map(({ error }) => error?.code ?? 'signed').sort()).toEqual(['file-changed', 'signed']);
  expect(place.service.signRequests()).toBe(1);
});

it('rejects a read-only file before any request', async () => {
  await using place = await scene();
  await chmod(place.path, 0o444);
  const run = await place.run(...signing(place.path));
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'read-only-file']);
  expect(place.service.signRequests()).toBe(0);
  expect(await readFile(place.path)).toEqual(ORIGINAL);
});

it('ends with 130 after Ctrl-C during a call, and the next run requests no further signature', async () => {
  let hand: PtyHand | undefined;
  let printed = '';
  await using place = await scene(async () => {
    hand?.type('\x03');
    await vi.waitFor(() => expect(printed).toContain('interrupted'), { timeout: 60_000, interval: 50 });
  });
  const code = await runWindowsCliOnTerminal(signing(place.path), place.env, {
    onStart(terminal) {
      hand = terminal;
    },
    onOutput(output) {
      printed = output;
    },
  });
  expect([code, place.service.signRequests()]).toEqual([130, 1]);
  const again = await place.run('sign', '--no-timestamp', '--skip-signed', windowsPath(place.path));
  expect([again.code, place.service.signRequests()], again.stderr).toEqual([0, 1]);
  expect(await readFile(place.path)).not.toEqual(ORIGINAL);
});
