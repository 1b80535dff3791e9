/** The README's picture of a terminal shows what the same commands print today. */

import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, temporaryFolder } from '../support/programs/cli.ts';
import { runOnPty } from '../support/programs/pty.ts';
import { useServer } from '../support/services/shared-server.ts';
import { forAll } from '../support/set-up.ts';
import { MADE_INPUTS } from '../support/signed-files/made-inputs.ts';
import { drawTerminal } from './terminal-picture.ts';

const server = await forAll(useServer({ bits: 2048, tsa: true }));
const folder = await forAll(temporaryFolder());

const FILES = ['app.exe', 'lib.jar', 'lib.nupkg', 'data.cab', 'run.ps1'];
const COMMANDS = [
  ['sign', ...FILES],
  ['verify', '--roots', 'ca.pem', ...FILES],
];

/** These texts differ from run to run, so each is replaced by one sample of the same length. */
const CHANCE = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2026-11-27T07:20:45Z'],
  [/\b\d+ ms\b/g, '90 ms'],
  [/\b\d+\.\d s\b/g, '0.8 s'],
  [/\bCA [\da-f]{8}\b/g, 'CA 2b384584'],
] as const;

it('shows what the commands print (renewed by: npx vitest run --config vitest.long.config.ts test/documentation/terminal-picture -u)', async () => {
  const inFolder = (name: string) => join(folder.path, name);
  await copyFile(fixture('pe/hello.exe'), inFolder('app.exe'));
  await copyFile(fixture('jar/plain.jar'), inFolder('lib.jar'));
  await copyFile(server.roots, inFolder('ca.pem'));
  await writeFile(inFolder('lib.nupkg'), MADE_INPUTS.nuget.make());
  await writeFile(inFolder('data.cab'), MADE_INPUTS.cab.make());
  await writeFile(inFolder('run.ps1'), MADE_INPUTS.powershell.make());
  const env = {
    ...server.env,
    CODESIGN_CODE: 'release',
    CODESIGN_CERTIFICATE: await server.addCertificate('release', 2048, 'Example Ltd'),
    CODESIGN_STATE_DIR: inFolder('state'),
    CODESIGN_CONFIG_DIR: inFolder('none'),
    // If two files were signed concurrently, their order in the output would vary.
    CODESIGN_CONCURRENCY: '1',
  };
  const runs: { readonly typed: string; readonly screen: string }[] = [];
  for (const args of COMMANDS) {
    const { code, screen } = await runOnPty(args, { columns: 84, env, cwd: folder.path });
    expect(code).toBe(0);
    const text = CHANCE.reduce((shown, [pattern, sample]) => shown.replace(pattern, sample), screen);
    runs.push({ typed: ['codesign-remote', ...args].join(' '), screen: text });
  }
  await expect(drawTerminal(runs, 84)).toMatchFileSnapshot('../../docs/terminal.svg');
});
