/** Unusual text in every setting of a project file: rejected with file and member named, or used, and never an internal error. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import { definitionOf, PROJECT_KEYS } from '../../../src/options/table.ts';
import { temporaryFolder } from '../../support/programs/cli.ts';

const TEXT_KEYS = PROJECT_KEYS.filter((key) => !['number', 'switch'].includes(definitionOf(key).kind?.form ?? ''));

async function read(content: object) {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'codesign-remote.config.json'), JSON.stringify(content));
  return await readProjectFile({ folder: folder.path, home: folder.path });
}

describe.each(TEXT_KEYS)('%s', (key) => {
  it.each([
    ['a NUL character', 'a\0b', 'contains a NUL character'],
    ['half of a surrogate pair', 'a\ud800b', 'contains half of a surrogate pair'],
    ['very long text', 'a'.repeat(100_000), 'is longer than 4096 characters'],
  ])('with %s is rejected', async (_what, text, problem) => {
    const message = expect.stringMatching(`codesign-remote\\.config\\.json "${key}" ${problem}$`);
    const error = { code: 'settings-file-damaged', category: 'usage', message };
    await expect(read({ [key]: text })).rejects.toMatchObject(error);
  });

  it('keeps text that is not in Unicode normal form C', async () => {
    expect((await read({ [key]: 'e\u0301' }))?.values.get(key)?.[0]).toMatch(/e\u0301$/);
  });
});

it('covers output, description and every other setting with text', () => {
  expect(TEXT_KEYS).toEqual(expect.arrayContaining(['output', 'algorithm', 'timestampUrl']));
});
