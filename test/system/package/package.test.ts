/** What `npm pack` makes: only what running needs. It runs from where it is unpacked. */

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { REPOSITORY, runCli, temporaryFolder } from '../../support/programs/cli.ts';
import { packOnce } from './pack.ts';

/** Everything that may be in the package. Chunks and declarations come under changing names. */
const EXPECTED = [
  /^package\.json$/,
  /^README\.md$/,
  /^docs\/([a-z\d-]+\/)?((README|[a-z\d-]+)\.md|terminal\.svg)$/,
  /^LICENSE$/,
  /^dist\/man\/codesign-remote\.1$/,
  /^bin\/(codesign-remote\.js|package\.json)$/,
  /^dist\/(cli\.cjs|(index|electron-builder|electron-windows-sign)\.c?js|digest-worker\.js)$/,
  /^dist\/[\w-]+-[\w-]{8}\.c?js$/,
  /^schema\/codesign-remote\.(config|policy|profiles)\.schema\.json$/,
  /^dist\/THIRD-PARTY-NOTICES\.txt$/,
  /^dist\/types\/([a-z\d-]+\/)*[a-z\d-]+\.d\.ts$/,
  /^dist\/types\/([a-z\d-]+\/)*[a-z\d-]+\.d\.cts$/,
];

describe('the packed package', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let packed: readonly string[];
  let tarball: string;

  beforeAll(async () => {
    folder = await temporaryFolder('codesign-remote-package-');
    ({ tarball, files: packed } = await packOnce());
    return () => folder[Symbol.asyncDispose]();
  });

  it('contains nothing that is not needed to run', () => {
    expect(packed.filter((file) => !EXPECTED.some((pattern) => pattern.test(file)))).toEqual([]);
  });

  it('contains everything that is needed to run', () => {
    expect(EXPECTED.filter((pattern) => !packed.some((file) => pattern.test(file)))).toEqual([]);
  });

  it('runs from where it is unpacked, as program and as library', async () => {
    execFileSync('tar', ['-xzf', tarball, '-C', folder.path]);
    const unpacked = path.join(folder.path, 'package');
    const { version } = JSON.parse(await readFile(path.join(REPOSITORY, 'package.json'), 'utf8')) as {
      version: string;
    };
    const program = path.join(unpacked, 'bin', 'codesign-remote.js');
    expect(await runCli(['--version'], { program })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const script = "import * as library from 'codesign-remote'; console.log(Object.keys(library).join())";
    const names = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: unpacked,
      encoding: 'utf8',
    });
    expect(names.trim().split(',')).toEqual(expect.arrayContaining(['CodesignError', 'signFiles']));
  });
});
