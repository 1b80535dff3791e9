/** Prepares the Windows tests once for a run: a Wine prefix with the name of Windows 10, and the packed program installed for Windows. */

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  INSTALLED_VARIABLE,
  PREFIX_VARIABLE,
  WINDOWS_NODE_VARIABLE,
  wineEnvironment,
} from '../support/programs/windows.ts';
import { openRun, SHARED_FOLDER_VARIABLE } from '../support/shared-folder.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Programs of the tests, each with the libraries it needs. */
const PROGRAMS = [
  ['hold-open', []],
  ['root-store', ['-lcrypt32']],
] as const;

export default async function setUp(): Promise<() => Promise<void>> {
  if (!process.env[WINDOWS_NODE_VARIABLE]) throw new Error(`${WINDOWS_NODE_VARIABLE} is not set`);
  // The long tests have opened it already, if these run among them.
  const closeRun = process.env[SHARED_FOLDER_VARIABLE] ? undefined : await openRun(process.env);
  const folder = process.env[SHARED_FOLDER_VARIABLE] ?? '';
  // A prefix of the run's own takes 9 s and 700 MB, and goes with the run's folder.
  const prefix = process.env[PREFIX_VARIABLE] || join(folder, 'wine-prefix');
  process.env[PREFIX_VARIABLE] = prefix;
  await preparePrefix(prefix);
  process.env[INSTALLED_VARIABLE] = await install(join(folder, 'installed'));
  return async () => {
    await run('wineserver', ['--kill', '--wait'], { env: wineEnvironment(prefix) }).catch(() => undefined);
    await closeRun?.();
  };
}

async function preparePrefix(prefix: string): Promise<void> {
  const env = wineEnvironment(prefix);
  if (!existsSync(join(prefix, 'ready'))) {
    await mkdir(prefix, { recursive: true });
    await run('wineboot', ['--init'], { env });
    await run('winecfg', ['-v', 'win10'], { env });
    await run('wineserver', ['--wait'], { env });
    await writeFile(join(prefix, 'ready'), '');
  }
  // When the last Windows process has ended, the server soon ends too, and the next one gives the same process ids again.
  // A process that has the id of a killed run would then look like that run.
  await run('wineserver', ['--kill', '--wait'], { env }).catch(() => undefined);
  execFileSync('wineserver', ['--persistent=600'], { env, stdio: 'ignore' });
}

/** As `npm install` on Windows does it, so that the keychain's binary for Windows comes along. @returns the folder */
async function install(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: REPOSITORY });
  const [packed] = JSON.parse(stdout) as readonly [{ readonly filename: string }];
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const forWindows = ['--force', '--os=win32', '--cpu=x64', '--ignore-scripts', '--prefer-offline'];
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', ...forWindows, ...quietly, join(folder, packed.filename)], { cwd: folder });
  for (const [name, libraries] of PROGRAMS) {
    const paths = ['-o', join(folder, `${name}.exe`), join(import.meta.dirname, `${name}.c`)];
    await run('x86_64-w64-mingw32-gcc', ['-municode', '-O1', '-Wall', '-Werror', ...paths, ...libraries]);
  }
  return folder;
}
