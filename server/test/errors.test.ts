import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { folderForEach } from '../../test/support/set-up.ts';
import { describeAccess, reasonOf, userName } from '../src/errors.ts';

const folder = folderForEach();

test('an error of permission names the user, and mode and owner of the file', async () => {
  const path = folder.at('server.json');
  await writeFile(path, '{}');
  await chmod(path, 0o640);
  const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', path });
  const said = `running as ${userName()}; ${path} has mode 0640 and is owned by uid ${process.getuid?.()}, gid `;
  expect(reasonOf(error)).toContain(`EACCES: permission denied (${said}`);
  expect(reasonOf(Object.assign(error, { code: 'ENOENT' }))).toBe('EACCES: permission denied');
});

test('describes the nearest folder if the file is missing or the user may not see it', async () => {
  await mkdir(folder.at('closed'), { mode: 0o700 });
  const said = `; ${folder.at('closed')} has mode 0700 and is owned by uid ${process.getuid?.()}, `;
  expect(describeAccess(folder.at('closed', 'deeper', 'missing'))).toContain(said);
});
