/** What `npm pack` makes: only what running needs. It runs from where it is unpacked. */

import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
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

describe('the command line', () => {
  it('loads little before it knows that more than --version is requested', async () => {
    const { bytes, required } = await loadedBy('cli.cjs');
    expect(bytes).toBeLessThan(4000);
    expect(required).toEqual([]);
  });

  it('loads only the commands and their options before it knows which is requested: no cryptography, no HTTP client', async () => {
    const [program = ''] = (await readdir(path.join(REPOSITORY, 'dist'))).filter((name) => name.startsWith('program-'));
    const { bytes, required } = await loadedBy(program);
    // Commander, the tables of commands, options and formats with their help, and the messages that they may print. A format
    // adds about 1 kB.
    expect(bytes).toBeLessThan(195_000);
    // For the flags of V8, and for the folder of compiled code.
    const forStart = ['fs', 'fs/promises', 'module', 'os', 'path', 'v8'];
    const forCommander = ['child_process', 'events', 'process', 'util'];
    // What is an address of this machine is decided by node:net.
    const forOptions = ['net', 'url'];
    const expected = [...forStart, ...forCommander, ...forOptions].map((name) => `node:${name}`);
    expect(required).toEqual(expected.sort());
  });
});

/** The built files that importing one loads: how large they are, and which modules of Node.js they import. */
async function loadedBy(name: string) {
  const loaded = [...(await textsOf(name)).values()].join('');
  const required = [...loaded.matchAll(/require\)?\("(node:[\w/]+)"/g)].map(([, module]) => module);
  return { bytes: loaded.length, required: [...new Set(required)].sort() };
}

/** Their text; what is imported later does not count. */
async function textsOf(name: string, texts = new Map<string, string>()): Promise<Map<string, string>> {
  if (texts.has(name)) return texts;
  const text = await readFile(path.join(REPOSITORY, 'dist', name), 'utf8');
  texts.set(name, text);
  for (const [, next = ''] of text.matchAll(/[=;](?:__toESM\()?require\("\.\/([^"]+)"/g)) await textsOf(next, texts);
  return texts;
}
