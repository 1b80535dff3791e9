/** Every case that was once faulty, run again: a value or an error with a code, nothing changed, and soon. */

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { fixture } from '../support/programs/cli.ts';
import { folderForAll } from '../support/set-up.ts';
import { openBases } from './bases.ts';
import { checkCase } from './check-case.ts';
import { randomOfCase } from './mutations/random.ts';
import type { Target } from './target.ts';
import { TARGETS, targetNamed } from './targets.ts';

const folder = folderForAll();

const opened = new Map<string, Promise<Target>>();
function open(name: string): Promise<Target> {
  const known = opened.get(name);
  if (known !== undefined) return known;
  const bases = openBases(fixture(''), undefined);
  const target = targetNamed(name).open({ bases, folder, sample: () => undefined });
  opened.set(name, target);
  return target;
}

test.each(readdirSync(fixture('fuzz')).filter((name) => name.endsWith('.bin')))('%s', async (name) => {
  const target = await open(name.split('--')[0] ?? '');
  const { fault } = await checkCase(target, await readFile(fixture(`fuzz/${name}`)));
  expect(fault).toBeUndefined();
});

describe.each(Object.keys(TARGETS))('%s', (name) => {
  test('creates the same case for the same seed, whatever came before', async () => {
    const target = await open(name);
    const cases = [0, 1, 2].map((index) => Buffer.from(target.make(randomOfCase(7, name, index))));
    const again = [2, 1, 0].map((index) => Buffer.from(target.make(randomOfCase(7, name, index)))).reverse();
    expect(again).toEqual(cases);
  });
});
