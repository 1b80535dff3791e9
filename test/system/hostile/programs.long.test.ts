/** Programs that were signed to exhaust or to confuse anyone who verifies them: a verdict, soon, in little memory. */

import { beforeAll, describe, it } from 'vitest';
import { fixture } from '../../support/programs/cli.ts';
import { measureTrivial } from './bounds.ts';
import { CERTIFICATE_CASES } from './certificate-cases.ts';
import { SIGNATURE_CASES } from './signature-cases.ts';
import { TABLE_CASES } from './table-cases.ts';
import { byName, expectVerdict } from './verdicts.ts';

let trivial: number;
beforeAll(async () => {
  trivial = await measureTrivial(fixture('golden/sha256-rsa2048.exe'));
});

describe('verify checks a program', () => {
  it.each(byName(SIGNATURE_CASES))('whose signature has %s', (_, file) => expectVerdict(file, '.exe', trivial));
  it.each(byName(CERTIFICATE_CASES))('whose certificates have %s', (_, file) => expectVerdict(file, '.exe', trivial));
  it.each(byName(TABLE_CASES))('whose table has %s', (_, file) => expectVerdict(file, '.exe', trivial));
});
