import { chmod, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { fixture, parseJson, snapshot, temporaryFolder } from '../support/programs/cli.ts';
import {
  type HeldFile,
  holdOpen,
  runWindowsCli,
  runWindowsCliOnTerminal,
  SHARE,
  windowsPath,
} from '../support/programs/windows.ts';
import { answer } from '../support/services/answering.ts';
import { startMisbehavingService } from '../support/services/misbehaving-service.ts';
import { makePki } from '../support/signed-files/pki.ts';

/** A service whose first answer waits for `beforeAnswer`, a program to sign, and a state folder. */
async function scene(beforeAnswer: (file: string) => Promise<unknown> = async () => undefined) {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'held.exe');
  await copyFile(fixture('pe/hello.exe'), file);
  const { leaf: issueLeaf, intermediate } = makePki();
  const leaf = issueLeaf();
  const certificate = join(folder.path, 'certificate.pem');
  await writeFile(certificate, leaf.pem + intermediate.pem);
  const service = await startMisbehavingService('by-file-name', {
    key: leaf.privateKey,
    byName: {
      held: async (exchange) => {
        await beforeAnswer(file);
        const data = { id: exchange.record, signature: exchange.signature };
        answer(exchange, 200, { code: 0, message: 'ok', data });
      },
    },
  });
  const env = {
    CODESIGN_BASE_URL: service.baseUrl,
    CODESIGN_CA_FILE: windowsPath(service.caFile),
    CODESIGN_CODE: '1',
    CODESIGN_CERTIFICATE: windowsPath(certificate),
    CODESIGN_ACCESS_KEY: 'windows-key',
    CODESIGN_ACCESS_SECRET: 'windows-secret-7f3a9c',
    CODESIGN_STATE_DIR: windowsPath(join(folder.path, 'state')),
  };
  return {
    file,
    folder: folder.path,
    service,
    env,
    run: (...args: readonly string[]) => runWindowsCli(args, { env }),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const ORIGINAL = await readFile(fixture('pe/hello.exe'));
const signing = (file: string) => ['sign', '--no-timestamp', '--json', windowsPath(file)];

it.each([
  ['nothing', SHARE.nothing],
  ['reading and writing, as programs in C and Python do', SHARE.readWrite],
])('rejects a file whose holder allows %s, before any request', async (_, share) => {
  await using place = await scene();
  await using _held = await holdOpen(place.file, share);
  const run = await place.run(...signing(place.file));
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'file-busy']);
  expect(place.service.signRequests()).toBe(0);
  expect(await readFile(place.file)).toEqual(ORIGINAL);
});

it('waits for a file that is held for a moment when the signed one takes its place', async () => {
  let held: HeldFile | undefined;
  await using place = await scene(async (file) => {
    held = await holdOpen(file, SHARE.read);
    setTimeout(() => void held?.release(), 700);
  });
  const run = await place.run(...signing(place.file));
  await held?.[Symbol.asyncDispose]();
  expect([run.code, parseJson(run).summary.signed, place.service.signRequests()]).toEqual([0, 1, 1]);
  expect(await readFile(place.file)).not.toEqual(ORIGINAL);
});

it('keeps the file and the signature if the file stays held, and uses the signature later', async () => {
  let held: HeldFile | undefined;
  await using place = await scene(async (file) => {
    held ??= await holdOpen(file, SHARE.all);
  });
  const run = await place.run(...signing(place.file));
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'file-busy']);
  expect(await readFile(place.file)).toEqual(ORIGINAL);
  await held?.[Symbol.asyncDispose]();
  const left = Object.keys(await snapshot(place.folder)).filter((path) => !path.includes('/state/'));
  expect(left.map((path) => path.slice(place.folder.length + 1))).toEqual(['certificate.pem', 'held.exe']);

  const resumed = await place.run('resume', '--no-timestamp');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  expect(await readFile(place.file)).not.toEqual(ORIGINAL);
  expect(place.service.signRequests()).toBe(1);
});

it('lets one of two runs sign a file, with one request', async () => {
  let second: ReturnType<typeof runWindowsCli> | undefined;
  await using place: Awaited<ReturnType<typeof scene>> = await scene(async (file) => {
    second ??= place.run(...signing(file));
    const copies = async () => (await readdir(place.folder)).filter((name) => name.endsWith('.tmp'));
    await vi.waitFor(async () => expect(await copies()).toHaveLength(2), { timeout: 60_000, interval: 200 });
  });
  const first = await place.run(...signing(place.file));
  const outcomes = [first, await second].flatMap((run) => (run ? parseJson(run).files : []));
  expect(outcomes.map(({ error }) => error?.code ?? 'signed').sort()).toEqual(['file-changed', 'signed']);
  expect(place.service.signRequests()).toBe(1);
});

it('rejects a read-only file before any request', async () => {
  await using place = await scene();
  await chmod(place.file, 0o444);
  const run = await place.run(...signing(place.file));
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'read-only-file']);
  expect(place.service.signRequests()).toBe(0);
  expect(await readFile(place.file)).toEqual(ORIGINAL);
});

it('ends with 130 after Ctrl-C during a call, and the next run requests no further signature', async () => {
  let press: (text: string) => void = () => undefined;
  await using place = await scene(async () => {
    press('\x03');
    await sleep(1000);
  });
  const code = await runWindowsCliOnTerminal(signing(place.file), place.env, (type) => {
    press = type;
  });
  expect([code, place.service.signRequests()]).toEqual([130, 1]);
  const again = await place.run('sign', '--no-timestamp', '--skip-signed', windowsPath(place.file));
  expect([again.code, place.service.signRequests()], again.stderr).toEqual([0, 1]);
  expect(await readFile(place.file)).not.toEqual(ORIGINAL);
});
