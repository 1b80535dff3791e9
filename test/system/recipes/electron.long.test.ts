/** Builds with electron-builder and electron-winstaller. 7-Zip's program takes the place of Electron's, which is not on npm. */

import { spawnSync } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, REPOSITORY } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { project, recipe } from './recipe.ts';

const TOOLS = process.env.CODESIGN_TEST_BUILD_TOOLS ?? '';
if (TOOLS === '' && process.env.CI) {
  throw new Error('CODESIGN_TEST_BUILD_TOOLS is not set: .ci/run installs the build tools and sets it');
}

const server = await forAll(useServer({ tsa: true }));
const PROGRAM = await readFile(fixture('pe/hello.exe'));
const LIBRARY = await readFile(fixture('pe/pe32.exe'));
const APPLICATION = { name: 'example', version: '1.0.0', author: 'Example', description: 'Example' };
const packed = (name: string) => readFile(join(TOOLS, 'node_modules', name));

const NEEDS_WINE32 = 'Wine runs no 32-bit programs: dpkg --add-architecture i386, apt-get install wine32:i386';

function wineRuns(program: string): boolean {
  const env = { ...process.env, WINEPREFIX: process.env.CODESIGN_TEST_WINE_PREFIX, WINEDEBUG: '-all' };
  const { stdout, stderr } = spawnSync('wine', [program], { env, encoding: 'utf8' });
  return !`${stdout}${stderr}`.includes('could not be started');
}

describe.skipIf(TOOLS === '')('electron-builder', () => {
  const settings = () => JSON.parse(`{ ${recipe('electron-builder', 'json')[0]} }`).build;

  it.each([
    ['through the hook', settings],
    [
      'through the hook and afterPack',
      () => {
        const { win, ...others } = settings();
        return { ...others, afterPack: './sign-libraries.js', win: { signtoolOptions: win.signtoolOptions } };
      },
    ],
  ])('signs programs and libraries %s', async (_, build) => {
    const ofElectron = {
      electronVersion: '38.0.0',
      electronDist: 'electron',
      npmRebuild: false,
      asarUnpack: ['*.node'],
    };
    await using scene = await project(server, {
      'package.json': JSON.stringify({ ...APPLICATION, main: 'main.js', build: { ...build(), ...ofElectron } }),
      'main.js': '// empty',
      'sign-libraries.js': recipe('electron-builder', 'js')[0] ?? '',
      'electron/electron.exe': await packed('electron-winstaller/vendor/7z-x64.exe'),
      'electron/ffmpeg.dll': LIBRARY,
      'addon.node': PROGRAM,
      'node_modules/.keep': '',
    });
    await symlink(REPOSITORY, join(scene.path, 'node_modules/codesign-remote'));
    await scene.run(
      `NODE_PATH=$PWD/node_modules '${process.execPath}' '${TOOLS}/node_modules/electron-builder/cli.js' --win --x64 --dir --publish never`,
    );
    const files = ['example.exe', 'ffmpeg.dll', 'resources/app.asar.unpacked/addon.node'];
    await scene.mustBeSigned(files.map((file) => join('dist/win-unpacked', file)));
    expect(scene.requests()).toBe(3);
  });
});

it.skipIf(TOOLS === '')(
  'electron-winstaller packs signed programs in an installer that is signed afterwards',
  async ({ skip }) => {
    skip(!wineRuns(`${TOOLS}/node_modules/electron-winstaller/vendor/rcedit.exe`), NEEDS_WINE32);
    const others = ['icudtl.dat', 'LICENSE', 'locales/en.pak', 'resources.pak', 'snapshot.bin'];
    await using scene = await project(server, {
      'build.js': recipe('electron-winstaller', 'js')[0] ?? '',
      'app/example.exe': PROGRAM,
      'app/ffmpeg.dll': LIBRARY,
      'app/resources/app/package.json': JSON.stringify({ ...APPLICATION, productName: 'Example' }),
      ...Object.fromEntries(others.map((name) => [`app/${name}`, 'x'])),
    });
    // The test changes a copy of the package: it does what the package's installation script would do, which did not run.
    await scene.run(`mkdir node_modules && cd node_modules && cp -r '${TOOLS}/node_modules/electron-winstaller' .
    cd electron-winstaller/vendor && cp 7z-x64.exe 7z.exe && cp 7z-x64.dll 7z.dll`);
    await scene.run(
      `NODE_PATH='${TOOLS}/node_modules' '${process.execPath}' build.js && unzip -q -d contents out/example-1.0.0-full.nupkg`,
    );
    const programs = ['example.exe', 'ffmpeg.dll', 'squirrel.exe'];
    await scene.mustBeSigned(['out/ExampleSetup.exe', ...programs.map((name) => `contents/lib/net45/${name}`)]);
    expect(scene.requests()).toBe(4);
  },
);
