/** What a user who comes from jarsigner, osslsigncode or signtool does by habit, and what a release must be warned about. */

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliRun, fixture, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';

const server = await forAll(useServer({ tsa: true }));

const sign = (args: readonly string[], cwd?: string): Promise<CliRun> =>
  runCli(['sign', ...args], { env: server.env, ...(cwd === undefined ? {} : { cwd }) });
const requests = () => server.operations('sign').length;

describe('a script before the archive', () => {
  it('is signed only if the name of the result is that of a JAR; otherwise no request is made', async () => {
    await using folder = await temporaryFolder();
    const bytes = Buffer.concat([Buffer.from('#!/bin/sh\n'), await readFile(fixture('jar/plain.jar'))]);
    await writeFile(join(folder.path, 'app.sh'), bytes);
    await writeFile(join(folder.path, 'app.jar'), bytes);
    const [untouched, before] = [await snapshot(folder.path), requests()];
    for (const args of [['app.sh'], ['app.jar', '-o', 'out.sh']]) {
      const { code, stderr } = await sign(args, folder.path);
      expect([code, stderr]).toEqual([6, expect.stringMatching(/\[jar-bytes-uncovered\]/)]);
    }
    expect([await snapshot(folder.path), requests()]).toEqual([untouched, before]);
    expect(await sign(['app.sh', '-o', 'out.jar'], folder.path)).toMatchObject({ code: 0 });
    const verified = await runCli(['verify', '--integrity-only', 'out.jar'], { cwd: folder.path });
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/\[bytes-before-archive\]/)]);
  });
});

describe('options of other tools', () => {
  it('suggests on one line', async () => {
    const { code, stderr } = await sign(['--algoritm', 'x', 'y']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--algoritm \(did you mean --algorithm\?\)/)]);
  });
});

describe('a release', () => {
  it('causes a warning if a file in a folder is named like a format but does not have its content', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'dist'));
    await copyFile(fixture('jar/plain.jar'), join(folder.path, 'dist/app.jar'));
    await writeFile(join(folder.path, 'dist/empty.jar'), '');
    await writeFile(join(folder.path, 'dist/notes.txt'), 'nothing to sign');
    const run = await sign(['--recursive', 'dist'], folder.path);
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/^warning +dist\/empty\.jar: left out: .*it is empty/m);
    expect(run.stderr).not.toContain('notes.txt');
  });

  it('causes a warning if Java did not see the last line of a manifest', async () => {
    const run = await sign(['--dry-run', fixture('jar/manifest-without-last-newline.jar')]);
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/Java ignores it/)]);
  });
});
