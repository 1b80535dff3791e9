/** Runs a recipe of docs/build-tools.md as it is written there, with a `codesign-remote` on the PATH that signs with the test server. */

import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { blocksIn } from '../../documentation/command-blocks.ts';
import { CLI_PROGRAM, temporaryFolder } from '../../support/programs/cli.ts';
import type { SharedServer } from '../../support/services/shared-server.ts';
import { osslsigncodeVerify, run } from '../interop/verifiers.ts';

const PAGE = 'docs/build-tools.md';

export function recipe(section: string, language: string): readonly string[] {
  const texts = blocksIn([PAGE])
    .filter((block) => block.section === section && block.language === language)
    .map(({ text }) => text);
  if (texts.length === 0) throw new Error(`${PAGE} has no block of ${language} in the section "${section}"`);
  return texts;
}

type Content = string | Buffer;

/** Creates a folder with these files. `commands` are further scripts on the PATH, by their names. */
export async function project(
  server: SharedServer,
  files: Readonly<Record<string, Content>>,
  commands: Readonly<Record<string, string>> = {},
) {
  const folder = await temporaryFolder('codesign-recipe-');
  const inFolder = async (name: string, content: Content) => {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), content);
  };
  for (const [name, content] of Object.entries(files)) await inFolder(name, content);
  const scripts = { 'codesign-remote': `exec '${process.execPath}' '${CLI_PROGRAM}' "$@"`, ...commands };
  for (const [name, script] of Object.entries(scripts)) {
    await inFolder(`.bin/${name}`, `#!/bin/sh\n${script}\n`);
    await chmod(join(folder.path, '.bin', name), 0o755);
  }
  const env = {
    HOME: folder.path,
    // Wine takes long to make a prefix.
    ...(process.env.CODESIGN_TEST_WINE_PREFIX && { WINEPREFIX: process.env.CODESIGN_TEST_WINE_PREFIX }),
    ...server.env,
    PATH: [join(folder.path, '.bin'), process.env.PATH].join(delimiter),
    CODESIGN_STATE_DIR: join(folder.path, '.state'),
    CODESIGN_CONFIG_DIR: join(folder.path, '.config'),
  };
  const before = server.operations('sign').length;
  return {
    path: folder.path,
    /** Runs a shell script in the folder of the project, and returns what it prints. */
    run: (script: string) =>
      new Promise<string>((resolve, reject) => {
        execFile('bash', ['-e', '-c', script], { cwd: folder.path, env }, (error, stdout, stderr) =>
          error ? reject(new Error(`${error.message}\n${stdout}${stderr}`)) : resolve(stdout + stderr),
        );
      }),
    /** Other programs accept the signatures of these files. */
    async mustBeSigned(files: readonly string[]) {
      for (const file of files) {
        const path = join(folder.path, file);
        const isArchive = file.endsWith('.jar');
        const { accepted, output } = isArchive
          ? await run('jarsigner', ['-verify', path])
          : await osslsigncodeVerify(server.roots, path);
        expect(accepted && (!isArchive || output.includes('jar verified.')), `${file}\n${output}`).toBe(true);
      }
    },
    /** Number of signatures that the service has made for this project. */
    requests: () => server.operations('sign').length - before,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
