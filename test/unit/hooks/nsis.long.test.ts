/** An installer built by makensis, which has it and its uninstaller signed on the way; osslsigncode checks both. */

import { execFile } from 'node:child_process';
import { access, copyFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI_PROGRAM, fixture, temporaryFolder } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { osslsigncodeVerify } from '../../system/interop/verifiers.ts';

const server = await forAll(useServer());

it('NSIS signs the uninstaller through !uninstfinalize and the installer through !finalize', async () => {
  await using folder = await temporaryFolder();
  const sign = `"${process.execPath}" "${CLI_PROGRAM}" sign --no-timestamp`;
  const uninstaller = join(folder.path, 'uninstaller.exe');
  await copyFile(fixture('pe/hello.exe'), join(folder.path, 'app.exe'));
  await writeFile(
    join(folder.path, 'setup.nsi'),
    `Unicode true
Name "Example"
OutFile "setup.exe"
InstallDir "$TEMP\\Example"
!uninstfinalize '${sign} "%1"' = 0
; Kept, to be looked at: the installer holds it compressed.
!uninstfinalize 'cp "%1" "${uninstaller}"' = 0
!finalize '${sign} "%1"' = 0
Section
  SetOutPath $INSTDIR
  File app.exe
  WriteUninstaller "$INSTDIR\\uninstall.exe"
SectionEnd
Section Uninstall
  Delete "$INSTDIR\\app.exe"
SectionEnd
`,
  );
  const env = { PATH: process.env.PATH, ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
  const output = await new Promise<string>((resolve, reject) => {
    execFile('makensis', ['-V2', 'setup.nsi'], { cwd: folder.path, env }, (error, stdout, stderr) =>
      error
        ? reject(new Error(`makensis (apt-get install nsis): ${error.message}\n${stdout}`))
        : resolve(stdout + stderr),
    );
  });
  await access(join(folder.path, 'setup.exe'));

  const root = server.roots;
  for (const file of [uninstaller, join(folder.path, 'setup.exe')]) {
    const verdict = await osslsigncodeVerify(root, file);
    expect(verdict.accepted, `${file}\n${verdict.output}\n${output}`).toBe(true);
  }
  expect(server.operations('sign')).toHaveLength(2);
  expect((await readdir(folder.path)).filter((name) => name.startsWith('.'))).toEqual([]);
});
