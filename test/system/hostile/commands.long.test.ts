/** Programs and JARs that were signed to exhaust or to confuse: each command answers, soon, in little memory, and `verify` with the right verdict. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/programs/cli.ts';
import { NO_AUTHORITY } from '../../support/runs/resume-scene.ts';
import { isInSample } from '../../support/sample.ts';
import { ARCHIVE_CASES } from './archive-cases.ts';
import { type Bounds, runBounded, USUAL_BOUNDS } from './bounds.ts';
import { byName, type HostileFile } from './cases.ts';
import { CERTIFICATE_CASES } from './certificate-cases.ts';
import { SIGNATURE_CASES } from './signature-cases.ts';

/**
 * `attach` has the signature in memory as it was given, and again as it is examined in the written file. Of the largest
 * signature, 16 MiB, the garbage collector may hold one copy more.
 */
const ATTACH_BOUNDS: Bounds = { ...USUAL_BOUNDS, bytes: 181 * 1024 * 1024 };

/** Of a sample, another part of the commands for each file. */
async function expectAllCommands(file: HostileFile, number: number, extension: string): Promise<void> {
  await using folder = await temporaryFolder('codesign-hostile-');
  const path = join(folder.path, `hostile${extension}`);
  const output = join(folder.path, `output${extension}`);
  const cms = join(folder.path, 'cms');
  const bytes = file.make();
  await writeFile(path, bytes);
  const { stdout } = await runBounded(['verify', '--json', path], [8]);
  expect(JSON.parse(stdout)).toMatchObject({ files: [{ verdict: file.verdict }] });
  if (file.code !== undefined) expect(stdout).toContain(`"code": "${file.code}"`);
  const commands: readonly (() => Promise<unknown>)[] = [
    () => runBounded(['inspect', path, '--json'], [0, 6]),
    () => runBounded(['inspect', path, '--certificates'], [0, 6]),
    () => runBounded(['verify', path, '-v', '--integrity-only'], [0, 8]),
    async () => {
      await runBounded(['extract', path, '--output', cms], [0, 6]);
      await runBounded(['attach', path, cms, '--output', output, '--json'], [0, 6], ATTACH_BOUNDS);
    },
    () => runBounded(['remove', path, '--output', output, '--json'], [0, 6]),
    () => runBounded(['timestamp', path, ...NO_AUTHORITY, '--output', output, '--json'], [0, 6, 7]),
  ];
  for (const [index, run] of commands.entries()) if (isInSample(index + number)) await run();
  expect(Buffer.compare(await readFile(path), bytes)).toBe(0);
}

describe('all commands answer on a program', () => {
  const files = [...SIGNATURE_CASES, ...CERTIFICATE_CASES];
  it.each(byName(files))('with %s', (_, file) => expectAllCommands(file, files.indexOf(file), '.exe'));
});

describe('all commands answer on an archive', () => {
  it.each(byName(ARCHIVE_CASES))('with %s', (_, file) => expectAllCommands(file, ARCHIVE_CASES.indexOf(file), '.jar'));
});
