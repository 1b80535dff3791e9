/** The cases in fixtures/fuzz, run again: each in this process, by the target that its name begins with. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fixture } from '../support/programs/cli.ts';

export interface KnownCase {
  readonly name: string;
  readonly target: string;
  readonly path: string;
}

/** Of all files but those that cases are made from. */
export function knownCases(): readonly KnownCase[] {
  const names = readdirSync(fixture('fuzz')).filter((name) => name.endsWith('.bin'));
  return names.sort().map((name) => {
    const target = /^([a-z-]+?)--/.exec(name)?.[1];
    if (target === undefined) throw new Error(`${name} does not begin with a target and two hyphens`);
    return { name, target, path: join(fixture('fuzz'), name) };
  });
}
