/** Makes a test of each case of some rows of the fault matrix, two at a time. */

import { it } from 'vitest';
import { mayMountDisks } from '../../support/programs/small-disk.ts';
import { forAll } from '../../support/set-up.ts';
import { runCourse } from './course.ts';
import { type Case, nameOf } from './rows.ts';
import { setStage } from './stage.ts';

/** Containers and hardened systems may let no one mount: there a disk of known size cannot be acquired. */
const WITHOUT_DISKS = !mayMountDisks() && process.env.CI === undefined;

export async function testCases(cases: readonly Case[]): Promise<void> {
  const stage = await forAll(setStage(new Set(cases.map(({ format }) => format))));
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
