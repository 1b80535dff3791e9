/**
 * The hooks of electron-builder and @electron/windows-sign as these call them, each in a process of its own, against the real
 * server; and by their own code, where CODESIGN_TEST_BUILD_TOOLS names the folder in which they are installed.
 */

import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watchRun } from '../../support/credential-watch.ts';
import { fixture, REPOSITORY, runCli } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../support/set-up.ts';
import { osslsigncodeVerify } from '../../system/interop/verifiers.ts';
import { makeCompoundFile } from '../formats/msi/samples.ts';

const server = await forAll(useServer());

const folder = folderForEach();
const TOOLS = process.env.CODESIGN_TEST_BUILD_TOOLS ?? '';

/** Runs the source of a build script, in CommonJS, with `hook` and the paths `app` and `helper` of unsigned programs. */
async function build(script: string, env: NodeJS.ProcessEnv = {}, hook = 'electron-builder') {
  const files = [folder.at('app.exe'), folder.at('helper.exe')];
  for (const file of files) await copyFile(fixture('pe/hello.exe'), file);
  const before = server.operations('sign').length;
  const source = `const hookPath = ${JSON.stringify(join(REPOSITORY, 'dist', `${hook}.js`))};
    const hook = require(hookPath);
    const [app, helper] = ${JSON.stringify(files)};
    (async () => { ${script} })().catch((error) => { console.error('THROWN', error.message); process.exitCode ||= 70; });`;
  const all = {
    PATH: process.env.PATH ?? '',
    ...server.env,
    CODESIGN_STATE_DIR: folder.at('state'),
    CODESIGN_CONFIG_DIR: folder.at('config'),
    ...env,
  };
  const search = watchRun({ env: all, args: files });
  const { code, stderr } = await new Promise<{ code: number; stderr: string }>((resolve) => {
    const options = { env: all, ...(TOOLS !== '' && { cwd: TOOLS }) };
    const child = execFile(process.execPath, ['--eval', source], options, (_error, _stdout, text) =>
      resolve({ code: child.exitCode ?? -1, stderr: text }),
    );
  });
  await search({ 'standard error': stderr });
  return { code, stderr, requests: server.operations('sign').length - before, files };
}

async function describeSignature(file: string | undefined): Promise<string> {
  const { stdout } = await runCli(['inspect', file ?? '']);
  return stdout;
}

describe('the hook of electron-builder', () => {
  const task = `path: app, name: 'Example App', site: 'https://example.com/app', isNest: false, cscInfo: null`;

  it.each([
    ['of version 25 and later', "{ signtoolOptions: { signingHashAlgorithms: ['sha1'] } }"],
    ['of version 24 and before', "{ signingHashAlgorithms: ['sha1'] }"],
    ['of version 27', "{ sign: { type: 'signtool', signingHashAlgorithms: ['sha1'] } }"],
  ])('signs with the name, web page and only digest of the product, in the call form %s', async (_, options) => {
    const { code, stderr, requests, files } = await build(
      `await hook.sign({ ${task}, hash: 'sha1', options: ${options} }, {});`,
    );
    expect({ code, requests }, stderr).toEqual({ code: 0, requests: 1 });
    const shown = await describeSignature(files[0]);
    expect(shown).toMatch(/Example App.*https:\/\/example\.com\/app/s);
    expect(shown).toContain('SHA1');
  });

  it('spends one signature where both SHA-1 and SHA-256 would be made', async () => {
    const { code, requests, stderr, files } = await build(
      `for (const [index, hash] of ['sha1', 'sha256'].entries()) {
         await hook.default({ ${task}, hash, isNest: index > 0, options: { signtoolOptions: null } }, {});
       }`,
    );
    expect({ code, requests }).toEqual({ code: 0, requests: 1 });
    expect(stderr).toContain('app.exe gets no second signature (sha256)');
    expect(await describeSignature(files[0])).not.toContain('SHA1');
  });

  it.each([
    ['by default', 'undefined'],
    ['with both digests', `{ signtoolOptions: { signingHashAlgorithms: ['sha1', 'sha256'] } }`],
    ['with both digests, in version 27', `{ sign: { type: 'signtool', signingHashAlgorithms: ['sha1', 'sha256'] } }`],
  ])('signs an .msi in its only pass, with SHA-256, %s', async (_, options) => {
    const installer = folder.at('setup.msi');
    await writeFile(installer, makeCompoundFile());
    const { code, requests, stderr } = await build(
      `await hook.sign({ ${task}, path: ${JSON.stringify(installer)}, hash: 'sha1', options: ${options} }, {});`,
    );
    expect({ code, requests }, stderr).toEqual({ code: 0, requests: 1 });
    expect(await describeSignature(installer)).toContain('SHA256');
  });

  it('keeps a program that another publisher signed, and says so', async () => {
    const script = `require('node:fs').copyFileSync(${JSON.stringify(fixture('golden/sha256-rsa2048.exe'))}, app); await hook.default(app);`;
    const { code, stderr, requests } = await build(script);
    expect([code, requests]).toEqual([0, 0]);
    expect(stderr).toMatch(/app\.exe keeps the signature of another publisher/);
  });

  const UNSET = { CODESIGN_BASE_URL: '', CODESIGN_CODE: '', CODESIGN_CERTIFICATE: '' };

  it("accepts just a path, and uses the user's profile, like sign", async () => {
    const { CODESIGN_BASE_URL: baseUrl, CODESIGN_CODE: code, CODESIGN_CERTIFICATE: certificate } = server.env;
    await mkdir(folder.at('config'));
    const stored = { environments: { production: baseUrl }, code, certificate: [certificate] };
    const profiles = JSON.stringify({ profiles: { default: stored } });
    await writeFile(folder.at('config', 'config.json'), profiles, { mode: 0o600 });
    const run = await build('await hook.sign(app);', UNSET);
    expect({ code: run.code, requests: run.requests }, run.stderr).toEqual({ code: 0, requests: 1 });
  });

  it('says what is missing, and where to set it', async () => {
    const run = await build('await hook.sign(app);', UNSET);
    expect(run).toMatchObject({ code: 70, requests: 0 });
    expect(run.stderr).toMatch(/THROWN .*app\.exe was not signed: .* \[setting-missing\]\. .*codesign-remote init/);
  });

  it('fails the build with the file, the reason and what to do', async () => {
    const { code, stderr, requests, files } = await build(`await hook.sign({ ${task}, hash: 'sha256' }, {});`, {
      CODESIGN_ACCESS_SECRET: 'wrong',
    });
    expect({ code, requests }).toEqual({ code: 70, requests: 1 });
    expect(stderr).toMatch(/THROWN .*app\.exe was not signed: .* \[unauthorized\]/);
    expect(stderr).not.toContain('wrong');
    expect(await readFile(files[0] ?? '')).toEqual(await readFile(fixture('pe/hello.exe')));
  });
});

describe('afterAllArtifactBuild', () => {
  const check = (artifacts: string) =>
    `await hook.afterAllArtifactBuild({ outDir: ${JSON.stringify(folder.path)}, artifactPaths: ${artifacts} });`;

  it('accepts a build whose programs are signed, and ignores files that Windows does not check', async () => {
    const unpacked = folder.at('win-unpacked', 'resources');
    await mkdir(unpacked, { recursive: true });
    await copyFile(fixture('pe/hello.exe'), join(unpacked, 'addon.node'));
    await writeFile(join(unpacked, 'index.js'), 'module.exports = 1;\n');
    await writeFile(folder.at('latest.yml'), 'version: 1\n');
    const { code, stderr } = await build(
      `for (const path of [app, ${JSON.stringify(join(unpacked, 'addon.node'))}]) await hook.sign(path);
       ${check(`[app, ${JSON.stringify(folder.at('latest.yml'))}]`)}`,
    );
    expect(code, stderr).toBe(0);
  });

  it('fails a build with an unsigned artifact, or an unsigned program in win-unpacked', async () => {
    const unpacked = folder.at('win-arm64-unpacked');
    await mkdir(unpacked);
    await copyFile(fixture('pe/hello.exe'), join(unpacked, 'library.dll'));
    const { code, stderr } = await build(check('[helper]'));
    expect(code).toBe(70);
    expect(stderr).toMatch(/THROWN .*helper\.exe \(unsigned\), .*library\.dll \(unsigned\) \[unsigned-in-build\]/);
  });

  it('fails a build with a signed program that was changed later', async () => {
    const { code, stderr } = await build(
      `await hook.sign(app);
       const bytes = require('fs').readFileSync(app);
       bytes[0x200] ^= 1;
       require('fs').writeFileSync(app, bytes);
       ${check('[app]')}`,
    );
    expect(code).toBe(70);
    expect(stderr).toMatch(/app\.exe \(broken\) \[unsigned-in-build\]\. Find the step/);
  });
});

it('the hook module of @electron/windows-sign ends the process with its exit code, though the tool continues when a hook throws', async () => {
  const { code, stderr } = await build(
    `await hook.default(app + '.missing').catch(() => undefined);`,
    {},
    'electron-windows-sign',
  );
  expect(code).toBe(6);
  expect(stderr).toMatch(/^codesign-remote: .*app\.exe\.missing was not signed: .* \[file-not-found\]/m);
});

describe.skipIf(TOOLS === '')('called by the code of', () => {
  const ofToday = `
    const { WindowsSignToolManager } = require('app-builder-lib/out/codeSign/windowsSignToolManager');
    const options = { signtoolOptions: { sign: hookPath } };
    await new WindowsSignToolManager({
      platformSpecificBuildOptions: options,
      appInfo: { type: 'commonjs', productName: 'Example', computePackageUrl: async () => 'https://example.com' },
      info: { getWorkspaceRoot: async () => '/' },
      getCscLink: () => null,
    }).signFile({ path, options });`;
  const ofVersion = (version: string) => `
    const { sign } = require('app-builder-lib-${version}/out/codeSign/windowsCodeSign');
    await sign({ path, options: { sign: hookPath } }, { appInfo: { type: 'commonjs' } });`;
  const BUILDERS = { today: ofToday, 'version 22': ofVersion('22'), 'version 24': ofVersion('24') };

  it.each(Object.entries(BUILDERS))('electron-builder of %s, signs a program and an installer', async (_, script) => {
    const paths = [folder.at('app.exe'), folder.at('setup.msi')];
    await writeFile(folder.at('setup.msi'), makeCompoundFile());
    const { requests, stderr } = await build(`for (const path of ${JSON.stringify(paths)}) { ${script} }`);
    expect(requests, stderr).toBe(2);
    for (const path of paths) expect(await osslsigncodeVerify(server.roots, path)).toMatchObject({ accepted: true });
  });

  it('@electron/windows-sign, signs the programs of a folder', async () => {
    // Each call is a run of its own, and a run that ended well leaves nothing to reuse.
    const { requests, stderr, files } = await build(
      `await require('@electron/windows-sign').sign({ appDirectory: require('path').dirname(app), hookModulePath: hookPath });`,
      {},
      'electron-windows-sign',
    );
    expect(requests, stderr).toBe(2);
    for (const file of files) expect(await osslsigncodeVerify(server.roots, file)).toMatchObject({ accepted: true });
  });
});
