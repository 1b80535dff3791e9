/** Every case that was once faulty, run again: a value or an error with a code, nothing changed, and soon. */

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fixture } from '../support/programs/cli.ts';
import { folderForAll } from '../support/set-up.ts';
import { openBases } from './bases.ts';
import { checkCase } from './check-case.ts';
import type { Target } from './target.ts';
import { targetNamed } from './targets.ts';

const folder = folderForAll();

const opened = new Map<string, Promise<Target>>();
function open(name: string): Promise<Target> {
  const known = opened.get(name);
  if (known !== undefined) return known;
  const bases = openBases(fixture(''), undefined);
  const target = targetNamed(name).open({ bases, folder, makesCases: false, sample: () => undefined });
  opened.set(name, target);
  return target;
}

test.each(readdirSync(fixture('fuzz')).filter((name) => name.endsWith('.bin')))('%s', async (name) => {
  const target = await open(name.split('--')[0] ?? '');
  const { fault } = await checkCase(target, await readFile(fixture(`fuzz/${name}`)));
  expect(fault).toBeUndefined();
});
