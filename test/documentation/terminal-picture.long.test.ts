/** The picture of a terminal in the README is of this program: what it says today is what is drawn. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../support/programs/cli.ts';
import { withoutChance } from '../support/runs/session-chance.ts';

it('is what a run of the same commands prints (npm run picture renews it)', async () => {
  const script = join(REPOSITORY, 'test/documentation/terminal-picture.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--print']);
  expect(textIn(stdout)).toBe(textIn(await readFile(join(REPOSITORY, 'docs/terminal.svg'), 'utf8')));
});

function textIn(picture: string): string {
  return withoutChance(picture.replace(/<style>.*?<\/style>|<[^>]*>/gs, ''), []);
}
