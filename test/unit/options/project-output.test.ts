/** A project file sends results nowhere but below its own folder, whatever links and names a repository brings along. */

import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkProjectOutputs } from '../../../src/options/stored/project-file.ts';
import { folderForEach } from '../../support/set-up.ts';

const parent = folderForEach();
let folder: string;
beforeEach(async () => {
  folder = join(await realpath(parent.path), 'project');
  await mkdir(join(folder, 'signed', 'deep'), { recursive: true });
  await writeFile(join(folder, 'signed', 'old.exe'), 'old');
});

const check = (...outputs: readonly string[]) =>
  checkProjectOutputs(
    join(folder, 'codesign-remote.config.json'),
    outputs.map((output) => join(folder, output)),
  );
const refused = (reason: string) =>
  expect.objectContaining({ code: 'project-output-refused', message: expect.stringContaining(reason) });

it('accepts files and folders below the project, whether they are there or not', () => {
  check('signed/old.exe', 'signed/deep/new.exe', 'new/deep/app.exe', 'app.exe', '.github/app.exe', 'git/.gitignore');
});

describe('rejects', () => {
  it.each(['../app.exe', 'signed/../../app.exe'])('%s, which leaves the project', (output) => {
    expect(() => check('app.exe', output)).toThrow(refused('is outside the folder'));
  });

  it('a linked file, and a link deep below', async () => {
    await symlink('../../.profile', join(folder, 'signed', 'app.exe'));
    await symlink('../../..', join(folder, 'signed', 'deep', 'up'));
    expect(() => check('signed/app.exe')).toThrow(refused('app.exe is a link'));
    expect(() => check('signed/deep/up/home/app.exe')).toThrow(refused('up is a link'));
  });

  it.each(['.git', '.GIT', '.git ', '.git.', 'git~1', '.g\u200cit', '.git::$INDEX_ALLOCATION', 'sub/.git'])(
    'a result in %s',
    (git) => {
      expect(() => check(`${git}/hooks/pre-commit`)).toThrow(refused('belongs to git'));
    },
  );
});
