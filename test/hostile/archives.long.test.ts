/** JARs that were signed to exhaust or to confuse whoever verifies them: a verdict, soon, in little memory. */

import { beforeAll, describe, it } from 'vitest';
import { fixture } from '../support/cli.ts';
import { ARCHIVE_CASES } from './archive-cases.ts';
import { measureTrivial } from './bounds.ts';
import { byName, expectVerdict } from './judged.ts';

let trivial: number;
beforeAll(async () => {
  trivial = await measureTrivial(fixture('golden/sha256-rsa2048.jar'));
});

describe('verify judges an archive', () => {
  it.each(byName(ARCHIVE_CASES))('with %s', (_, file) => expectVerdict(file, '.jar', trivial));
});
