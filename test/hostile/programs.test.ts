/** Programs that were signed to exhaust or to confuse whoever verifies them: a verdict, soon, in little memory. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture, temporaryFolder } from '../support/cli.ts';
import { runMeasured } from '../support/measured-cli.ts';
import { expectBounded, expectSane, measureTrivial } from './bounds.ts';
import type { HostileFile } from './cases.ts';
import { CERTIFICATE_CASES } from './certificate-cases.ts';
import { SIGNATURE_CASES } from './signature-cases.ts';
import { TABLE_CASES } from './table-cases.ts';

let trivial: number;
beforeAll(async () => {
  trivial = await measureTrivial(fixture('golden/sha256-rsa2048.exe'));
});

async function verify({ make, verdict, code }: HostileFile): Promise<void> {
  await using folder = await temporaryFolder('codesign-hostile-');
  const path = join(folder.path, 'hostile.exe');
  await writeFile(path, make());
  const run = await runMeasured(['verify', '--json', path]);
  expectSane(run, [8]);
  expect(JSON.parse(run.stdout)).toMatchObject({ files: [{ verdict }] });
  if (code !== undefined) expect(run.stdout).toContain(`"code": "${code}"`);
  expectBounded(run, trivial);
}

const byName = ({ what, ...rest }: HostileFile) => [what, { what, ...rest }] as const;

describe('verify judges', () => {
  it.each(SIGNATURE_CASES.map(byName))('a signature with %s', (_, file) => verify(file));
  it.each(CERTIFICATE_CASES.map(byName))('a signature with %s', (_, file) => verify(file));
  it.each(TABLE_CASES.map(byName))('a table with %s', (_, file) => verify(file));
});
