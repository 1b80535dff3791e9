/** The main flow with a service in this process, for steps that a test of the command line cannot time. */

import { copyFileSync, renameSync } from 'node:fs';
import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SigningService } from '../../../src/service/signing-service.ts';
import type { SignFilesResult, SigningEvent } from '../../../src/signing/outcome.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import type { Signing } from '../../../src/signing/signing-run.ts';
import { fixture } from '../../support/programs/cli.ts';
import { folderForEach } from '../../support/set-up.ts';
import { countingService, makeSigner } from './journal-scene.ts';
import { type FlatSigning, testClient, testSigning } from './signing-run.ts';

const folder = folderForEach();
const signer = await makeSigner();

const testService = (before?: (call: number) => Promise<unknown>) => countingService(signer.key, before);

/** The status or the error code of each file. */
const codesOf = ({ files }: SignFilesResult) =>
  files.map((file) => (file.status === 'failed' ? file.error.code : file.status));

function signingWith(service: SigningService, more: FlatSigning = {}): Signing {
  return testSigning({ chain: signer.chain, service, ...more });
}

async function programs(count: number): Promise<{ path: string; output: string }[]> {
  const paths = Array.from({ length: count }, (_, index) => folder.at(`app-${index}.exe`));
  for (const path of paths) await copyFile(fixture('pe/hello.exe'), path);
  return paths.map((path) => ({ path, output: path }));
}

describe('a run', () => {
  it.each(['large', 'small'])('signs on while calls for %s files, named first, are not answered', async (held) => {
    const files = await programs(7);
    const largePaths = (held === 'large' ? files.slice(0, 5) : files.slice(5)).map(({ path }) => path);
    for (const path of largePaths) await truncate(path, 9_000_000);
    const large = new Set(largePaths.map((path) => basename(path)));
    const isHeld = (name: string) => large.has(name) === (held === 'large');
    const others = new Set(files.map(({ path }) => path).filter((path) => !isHeld(basename(path))));
    let letGo: () => void = () => undefined;
    const othersAreSigned = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const onEvent = (event: SigningEvent) => {
      if (event.type === 'file-finished') others.delete(event.outcome.path);
      if (others.size === 0) letGo();
    };
    const service = testService();
    const holding: SigningService = {
      ...service,
      async sign(request) {
        // The first call is alone under way until it has proven the service.
        if (service.asked > 0 && isHeld(request.file ?? '')) await othersAreSigned;
        return service.sign(request);
      },
    };
    const client = { ...testClient, replaced: {} };
    const { summary } = await signFiles(files, signingWith(holding, { onEvent, client }));
    expect(summary.signed).toBe(7);
  });

  it('distinguishes files whose inode numbers were swapped when both were replaced', async () => {
    const files = await programs(2);
    const [a = '', b = ''] = files.map(({ path }) => path);
    const onEvent = ({ type }: SigningEvent) => {
      if (type !== 'files-planned') return;
      renameSync(a, b);
      copyFileSync(fixture('pe/hello.exe'), a);
    };
    const service = testService();
    const { files: outcomes } = await signFiles(files, signingWith(service, { onEvent }));
    expect(outcomes).toMatchObject(files.map(() => ({ status: 'failed', error: { code: 'file-changed' } })));
    expect(service.asked).toBe(0);
  });

  it('keeps the true error and the record when its temporary file is removed', async () => {
    const service = testService(async () => {
      for (const name of await readdir(folder.path)) if (name.endsWith('.tmp')) await rm(folder.at(name));
    });
    const { files } = await signFiles(await programs(1), signingWith(service));
    expect(files[0]).toMatchObject({ status: 'failed', error: { code: 'copy-changed' }, record: 'record-1' });
    expect(service.reports).toEqual([['record-1', 2]]);
  });

  it('writes nothing through a link that replaces the folder of the result', async () => {
    const files = await programs(2);
    const [out, elsewhere] = [folder.at('out'), folder.at('elsewhere')];
    for (const made of [out, elsewhere]) await mkdir(made);
    const service = testService(async () => {
      await rename(out, folder.at('moved'));
      await symlink(elsewhere, out);
    });
    const results = files.map((file, index) => ({ path: file.path, output: join(out, `${index}.exe`) }));
    const { files: outcomes } = await signFiles(results, signingWith(service, { concurrency: 1 }));
    expect(outcomes).toMatchObject(files.map(() => ({ status: 'failed', error: { code: 'folder-replaced' } })));
    expect(service.asked).toBe(1);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('writes no result over another file of the run', async () => {
    const [a, b] = await programs(2);
    const out = folder.at('out');
    await mkdir(out);
    await symlink(a?.path ?? '', join(out, 'app-1.exe'));
    const service = testService();
    const files = [a, b].map((file, index) => ({ path: file?.path ?? '', output: join(out, `app-${index}.exe`) }));
    const before = await readFile(a?.path ?? '');
    expect(codesOf(await signFiles(files, signingWith(service)))).toEqual(['signed', 'output-conflict']);
    expect(await readFile(a?.path ?? '')).toEqual(before);
    expect(service.asked).toBe(1);
  });

  it('sends no request when the file changed while its call waited for its turn', async () => {
    const files = await programs(3);
    const service = testService(async (call) => {
      if (call === 1) for (const { path } of files) await appendFile(path, 'x').catch(() => undefined);
    });
    const result = await signFiles(files, signingWith(service));
    expect(result.summary).toMatchObject({ signed: 0, failed: 3 });
    expect(service.asked).toBe(1);
  });

  it('sends no request when the file changed while its request waited for a connection', async () => {
    const [file = { path: '', output: '' }] = await programs(1);
    const service = testService();
    const slow: SigningService = {
      ...service,
      async sign(request) {
        await appendFile(file.path, 'x');
        return await service.sign(request);
      },
    };
    const { files } = await signFiles([file], signingWith(slow));
    expect(files[0]).toMatchObject({ status: 'failed', error: { code: 'file-changed' }, record: null });
    expect(service.asked).toBe(0);
  });

  it.each([
    ['appeared', undefined],
    ['changed', 'an earlier result'],
  ])('sends no request when the target %s while its call waited for its turn', async (_, earlier) => {
    const files = (await programs(2)).map(({ path }, index) => ({ path, output: folder.at(`out-${index}.exe`) }));
    const second = folder.at('out-1.exe');
    if (earlier !== undefined) await writeFile(second, earlier);
    const service = testService(() => writeFile(second, 'the result of another run'));
    const result = await signFiles(files, signingWith(service, { concurrency: 1 }));
    expect(codesOf(result)).toEqual(['signed', 'file-changed']);
    expect(service.asked).toBe(1);
    expect(await readFile(second, 'utf8')).toBe('the result of another run');
    expect((await readdir(folder.path)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
