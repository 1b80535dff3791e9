/** JARs that were signed to exhaust or to confuse anyone who verifies them: a verdict, soon, in little memory. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture, temporaryFolder } from '../../support/programs/cli.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { ARCHIVE_CASES, LARGE_ARCHIVE_CASES, LARGEST_BOUNDS } from './archive-cases.ts';
import { expectBounded, expectSane, measureTrivial } from './bounds.ts';
import { byName, expectVerdict } from './verdicts.ts';

let trivial: number;
beforeAll(async () => {
  trivial = await measureTrivial(fixture('golden/sha256-rsa2048.jar'));
});

describe('verify checks an archive', () => {
  it.each(byName(ARCHIVE_CASES))('with %s', (_, file) => expectVerdict(file, '.jar', trivial));
});

const pki = makePki('Planned');

describe('within 5 s and 300 MB, an archive with', () => {
  const large = LARGE_ARCHIVE_CASES.map((file) => [file.what, file] as const);
  it.each(large)('%s is checked by verify', (_, file) => expectVerdict(file, '.jar', trivial, LARGEST_BOUNDS));

  it.each(large)('%s is planned or rejected by sign', async (_, file) => {
    await using folder = await temporaryFolder('codesign-hostile-');
    const path = join(folder.path, 'hostile.jar');
    await writeFile(path, file.make());
    const service = ['--base-url', 'http://127.0.0.1:9', '--code', '1', '--no-journal', '--no-timestamp'];
    const pem = join(folder.path, 'certificate.pem');
    await writeFile(pem, [pki.leaf(), pki.intermediate, pki.root].map((each) => each.pem).join(''));
    const certificate = ['--certificate', pem];
    const run = await runMeasured(['sign', '--dry-run', '--json', ...service, ...certificate, path]);
    expectSane(run, [0, 6]);
    expect(run.stdout).toContain(file.planned);
    expectBounded(run, trivial, LARGEST_BOUNDS);
  });
});
