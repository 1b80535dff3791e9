/** What other programs do to the temporary file is found before it takes the place of the original. */

import {
  type FileHandle,
  link,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Patch } from '../../../../src/bytes/patch.ts';
import { type InputFile, openInput } from '../../../../src/files/input-file.ts';
import { SOON_COMPARED } from '../../../../src/signing/files/copy-proof.ts';
import { type StagedCopy, stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';

/** The second is compared whole only once. */
const SIZES = [100_000, SOON_COMPARED + 1] as const;
const edit = (offset: number, remove: number, insert: string) => ({ offset, remove, insert: [Buffer.from(insert)] });

let folder: string;
let target: string;
let temporary: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-proof-'));
  target = join(folder, 'target');
  temporary = join(folder, '.codesign-remote-x.tmp');
});
afterEach(() => rm(folder, { recursive: true }));

type Step = 'measured' | 'rehearsed' | 'flushed' | 'sealed' | 'proven';
const STEPS: readonly Step[] = ['measured', 'rehearsed', 'flushed', 'sealed', 'proven'];

/** Signs in miniature, and lets `interfere` act after one step. Gives the expected result. */
async function change(size: number, at: Step, interfere: (input: InputFile) => Promise<void>): Promise<Buffer> {
  const original = Buffer.alloc(size, 'original ');
  await writeFile(target, original);
  const rehearsal: Patch = [edit(4096, 2, '..'), edit(size, 0, '....')];
  const real: Patch = [edit(4096, 2, 'XY'), edit(size, 0, 'SEAL')];
  await using input = await openInput(target);
  await using copy = await stageCopy({
    ...{ source: input.source, original: input, stats: input.stats, target },
    ...{ randomName: () => 'x', digestEntries, temporaryFiles: new Set(), onEvent: () => undefined },
  });
  const actions: Readonly<Record<Step, (copy: StagedCopy) => Promise<unknown>>> = {
    measured: () => copy.reader.measure(input.source, [{ start: 0, end: size }], ['SHA256']),
    rehearsed: () => copy.apply(rehearsal).then(copy.takeOwnerAndMode),
    flushed: () => copy.flush(),
    sealed: () => copy.apply(real),
    proven: () => copy.prove(),
  };
  for (const step of STEPS) {
    await actions[step](copy);
    if (step === at) await interfere(input);
  }
  await copy.replaceTarget();
  return applyPatch(original, real);
}

const codeOf = (thrown: { readonly code?: string }) => thrown.code;

async function withTemporary(work: (handle: FileHandle) => Promise<unknown>): Promise<void> {
  await using handle = await open(temporary, 'r+');
  await work(handle);
}

async function flip(position: number): Promise<void> {
  await withTemporary(async (handle) => {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, position);
    await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, position);
  });
}

/** A byte changed, and the times set back to what they were. */
async function flipUnseen(position: number): Promise<void> {
  const { atime, mtime } = await stat(temporary);
  await flip(position);
  await utimes(temporary, atime, mtime);
}

describe.each(SIZES)('a temporary file of %i bytes', (size) => {
  it('becomes the file if no other program touches it, with the current time', async () => {
    const expected = await change(size, 'proven', async () => undefined);
    expect((await readFile(target)).equals(expected)).toBe(true);
    expect(Date.now() - (await stat(target)).mtimeMs).toBeLessThan(600_000);
  });

  const harms: readonly (readonly [string, () => Promise<void>])[] = [
    ['changes a byte and sets the times back', () => flipUnseen(size >> 1)],
    ['changes its last byte that is not part of the signature', () => flip(size - 1)],
    ['makes it shorter', () => truncate(temporary, size - 10)],
  ];
  it.each(harms)('does not become the file if a program %s, after any step', async (_, harm) => {
    for (const step of STEPS) {
      expect([step, await change(size, step, harm).catch(codeOf)]).toEqual([step, 'copy-changed']);
      expect((await readFile(target)).equals(Buffer.alloc(size, 'original '))).toBe(true);
    }
  });
});

const swaps: readonly (readonly [string, () => Promise<void>])[] = [
  ['a file', () => writeFile(join(folder, 'other'), 'x').then(() => rename(join(folder, 'other'), temporary))],
  [
    'a copy',
    async () => {
      await writeFile(join(folder, 'other'), await readFile(temporary));
      await rename(join(folder, 'other'), temporary);
    },
  ],
  ['a link', () => symlink('victim', join(folder, 'l')).then(() => rename(join(folder, 'l'), temporary))],
  [
    'a hard link',
    () => link(join(folder, 'victim'), join(folder, 'l')).then(() => rename(join(folder, 'l'), temporary)),
  ],
];
it.each(swaps)('does not become the file if a program puts %s in its place', async (_, swap) => {
  await writeFile(join(folder, 'victim'), 'victim');
  await expect(change(SIZES[0], 'flushed', swap)).rejects.toMatchObject({ code: 'copy-changed' });
  expect((await readFile(target)).equals(Buffer.alloc(SIZES[0], 'original '))).toBe(true);
  expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('victim');
});
