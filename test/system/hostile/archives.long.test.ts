/** JARs of almost 20 MB, signed to exhaust: `verify` gives a verdict and `sign` an answer, in bounded time and memory. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/programs/cli.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { LARGE_ARCHIVE_CASES, LARGEST_BOUNDS } from './archive-cases.ts';
import { runBounded } from './bounds.ts';
import { byName, expectVerdict } from './verdicts.ts';

const pki = makePki('Planned');
const SERVICE = ['--base-url', 'http://127.0.0.1:9', '--code', '1', '--no-journal', '--no-timestamp'];

describe('an archive with', () => {
  it.each(byName(LARGE_ARCHIVE_CASES))('%s is verified, and planned or rejected', async (_, file) => {
    await using folder = await temporaryFolder('codesign-hostile-');
    const path = join(folder.path, 'hostile.jar');
    await writeFile(path, file.make());
    await expectVerdict(file, path, LARGEST_BOUNDS);
    const pem = join(folder.path, 'certificate.pem');
    await writeFile(pem, [pki.leaf(), pki.intermediate, pki.root].map((each) => each.pem).join(''));
    const args = ['sign', '--dry-run', '--json', ...SERVICE, '--certificate', pem, path];
    const { stdout } = await runBounded(args, [0, 6], LARGEST_BOUNDS);
    expect(stdout).toContain(file.planned);
  });
});
