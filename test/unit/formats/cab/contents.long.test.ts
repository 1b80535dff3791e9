import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cabinetFiles } from '../../../../src/formats/cabinet-contents.ts';
import { cabOf } from '../../../support/containers/make-cab.ts';
import { folderForAll } from '../../../support/set-up.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS;
const folder = folderForAll();

it.runIf(corpus)('unpacks the same bytes as cabextract', async () => {
  for (const name of await readdir(`${corpus}/cab`)) {
    const path = join(`${corpus}/cab`, name);
    const target = join(folder, name);
    execFileSync('cabextract', ['-q', '-d', target, path]);
    let count = 0;
    for await (const file of cabinetFiles(memorySource(await readFile(path)))) {
      const source = await file.open();
      const expected = await readFile(join(target, file.name));
      expect(sha256(await source.read(0, source.size))).toBe(sha256(expected));
      count += 1;
    }
    expect(
      (await readdir(target, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()),
    ).toHaveLength(count);
  }
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

it('reads a large file again from the start', async () => {
  const large = Buffer.alloc(64 * 1024 * 1024 + 40_000, randomBytes(1000));
  const bytes = cabOf({ before: randomBytes(50_000), large, after: Buffer.from('after') }, true);
  const found = cabinetFiles(memorySource(bytes));
  await found.next();
  const { value } = await found.next();
  const source = await value?.open();
  for (const offset of [large.length - 10, 0, 33_000]) {
    expect(await source?.read(offset, 10)).toEqual(large.subarray(offset, offset + 10));
  }
  const after = await (await found.next()).value?.open();
  expect(Buffer.from((await after?.read(0, 5)) ?? []).toString()).toBe('after');
});
