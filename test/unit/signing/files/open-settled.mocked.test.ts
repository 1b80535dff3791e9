import { rm, stat, utimes, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as InputFiles from '../../../../src/files/input-file.ts';
import { openSettled } from '../../../../src/signing/files/open-file.ts';
import { folderForEach } from '../../../support/set-up.ts';

const folder = folderForEach();
let path: string;
beforeEach(async () => {
  path = folder.at('app.exe');
  await writeFile(path, 'content');
});

const RUN = { onEvent: () => undefined, stop: { throwIfStopped: () => undefined } };

/** Opens the file so many milliseconds after its last change, and returns the waits. */
async function waitAt(age: number, meanwhile: () => Promise<unknown> = async () => undefined): Promise<number[]> {
  const waited: number[] = [];
  const { ctimeMs } = await stat(path);
  const sleep = async (milliseconds: number) => {
    waited.push(milliseconds);
    await meanwhile();
  };
  await using _ = await openSettled(path, RUN, { now: () => Math.floor(ctimeMs) + age, sleep });
  return waited;
}

describe('a file', () => {
  it.each([
    [0, [10]],
    [9, [10]],
    [10, []],
    [5000, []],
  ])('that was written %i ms ago is opened after a wait of %j ms', async (age, waited) => {
    expect(await waitAt(age)).toEqual(waited);
  });

  it('whose modification time was set back is judged by its change time', async () => {
    await utimes(path, 1, 1);
    expect(await waitAt(5)).toEqual([10]);
  });

  it('whose times are in the future is waited for once', async () => {
    expect(await waitAt(-60_000)).toEqual([10]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['written to', () => writeFile(path, 'other content')],
    ['replaced', () => rm(path).then(() => writeFile(path, 'content'))],
  ])('that is %s during the wait is left alone', async (_, meanwhile) => {
    await expect(waitAt(0, meanwhile)).rejects.toMatchObject({ code: 'file-changed' });
  });
});

describe('where times are whole seconds', () => {
  const WRITTEN = 1_800_000_000n * 1_000_000_000n;

  beforeEach(() => {
    vi.doMock('../../../../src/files/input-file.ts', async (importOriginal) => {
      const original = await importOriginal<typeof InputFiles>();
      return {
        ...original,
        openInput: async (...given: Parameters<typeof original.openInput>) => {
          const input = await original.openInput(...given);
          return { ...input, stats: { ...input.stats, mtimeNs: WRITTEN, ctimeNs: WRITTEN } };
        },
        isUnchanged: () => true,
      };
    });
    vi.resetModules();
    return () => vi.doUnmock('../../../../src/files/input-file.ts');
  });

  it.each([
    [1999, [2000]],
    [2000, []],
  ])('a file that was written %i ms ago is opened after a wait of %j ms', async (age, expected) => {
    const { openSettled: open } = await import('../../../../src/signing/files/open-file.ts');
    const waited: number[] = [];
    const sleep = async (milliseconds: number) => void waited.push(milliseconds);
    await using _ = await open(path, RUN, { now: () => Number(WRITTEN / 1_000_000n) + age, sleep });
    expect(waited).toEqual(expected);
  });
});
