/** Makes a test of each case of some rows of the fault matrix, two at a time. */

import { afterAll, beforeAll, it } from 'vitest';
import { mayMountDisks } from '../../support/programs/small-disk.ts';
import { runCourse } from './course.ts';
import { type Case, nameOf } from './rows.ts';
import { type Stage, setStage } from './stage.ts';

/** Containers and hardened systems may let no one mount: there a disk of known size cannot be acquired. */
const WITHOUT_DISKS = !mayMountDisks() && process.env.CI === undefined;

export function testCases(cases: readonly Case[]): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage(new Set(cases.map(({ format }) => format)));
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  for (const one of cases) {
    const { row, effect, format } = one;
    it.skipIf(row.disk !== undefined && WITHOUT_DISKS).concurrent(
      nameOf(one),
      async ({ expect: check }) => {
        const observed = await runCourse(row, effect, format, stage);
        check(observed).toEqual({ ...row.right, error: row.variants[effect], wrongs: [] });
      },
      120_000,
    );
  }
}
