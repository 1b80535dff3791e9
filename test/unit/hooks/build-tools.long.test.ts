/** The hooks called by the code of electron-builder and @electron/windows-sign itself. CODESIGN_TEST_BUILD_TOOLS names where they are installed. */

import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, REPOSITORY, temporaryFolder } from '../../support/programs/cli.ts';
import { type SharedServer, useServer } from '../../support/services/shared-server.ts';
import { osslsigncodeVerify } from '../../system/interop/verifiers.ts';
import { makeCompoundFile } from '../formats/msi/samples.ts';

const TOOLS = process.env.CODESIGN_TEST_BUILD_TOOLS ?? '';

let server: SharedServer;
beforeAll(async () => {
  if (TOOLS !== '') server = await useServer();
});
afterAll(async () => {
  if (TOOLS !== '') await server.stop();
});

/** Runs a build script where the tools are installed; gives what it says, and whether the program ends signed. */
async function build(script: (file: string) => string, name: 'app.exe' | 'setup.msi' = 'app.exe') {
  await using folder = await temporaryFolder();
  const application = join(folder.path, 'application');
  await mkdir(application);
  const file = join(application, name);
  await (name === 'app.exe' ? copyFile(fixture('pe/hello.exe'), file) : writeFile(file, makeCompoundFile()));
  const before = server.operations('sign').length;
  const env = { PATH: process.env.PATH, ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, ['--eval', script(file)], { env, cwd: TOOLS }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}${stderr}`)) : resolve(stdout + stderr),
    );
  });
  const root = server.roots;
  const { accepted } = await osslsigncodeVerify(root, file);
  return { output, accepted, requests: server.operations('sign').length - before };
}

const HOOK = (name: string): string => JSON.stringify(join(REPOSITORY, 'dist', `${name}.js`));

describe.skipIf(TOOLS === '')('electron-builder', () => {
  const NAMES = ['app.exe', 'setup.msi'] as const;

  it.each(NAMES)('of today signs %s through win.signtoolOptions.sign', async (name) => {
    const { accepted, requests } = await build(
      (file) => `
        const { WindowsSignToolManager } = require('app-builder-lib/out/codeSign/windowsSignToolManager');
        const options = { signtoolOptions: { sign: ${HOOK('electron-builder')} } };
        const packager = {
          platformSpecificBuildOptions: options,
          appInfo: { type: 'commonjs', productName: 'Example', computePackageUrl: async () => 'https://example.com' },
          info: { getWorkspaceRoot: async () => '/' },
          getCscLink: () => null,
        };
        new WindowsSignToolManager(packager).signFile({ path: ${JSON.stringify(file)}, options })
          .catch((error) => { console.error(error); process.exit(1); });`,
      name,
    );
    expect({ accepted, requests }).toEqual({ accepted: true, requests: 1 });
  });

  const CASES = ['22', '24'].flatMap((version) => NAMES.map((name) => [version, name] as const));

  it.each(CASES)('of version %s signs %s through win.sign', async (version, name) => {
    const { accepted, requests } = await build(
      (file) => `
        const { sign } = require('app-builder-lib-${version}/out/codeSign/windowsCodeSign');
        sign({ path: ${JSON.stringify(file)}, options: { sign: ${HOOK('electron-builder')} } }, { appInfo: { type: 'commonjs' } })
          .catch((error) => { console.error(error); process.exit(1); });`,
      name,
    );
    expect({ accepted, requests }).toEqual({ accepted: true, requests: 1 });
  });
});

describe.skipIf(TOOLS === '')('@electron/windows-sign', () => {
  it('calls the hook for the programs of a folder', async () => {
    const { accepted, requests } = await build(
      (file) => `
        const { sign } = require('@electron/windows-sign');
        sign({ appDirectory: require('path').dirname(${JSON.stringify(file)}), hookModulePath: ${HOOK('electron-windows-sign')} });`,
    );
    expect({ accepted, requests }).toEqual({ accepted: true, requests: 1 });
  });
});
