import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cabinetFiles } from '../../../../src/formats/cabinet-contents.ts';
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
