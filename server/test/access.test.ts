import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeAccess, userName } from '../src/access.ts';
import { reasonOf } from '../src/errors.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-access-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('an error of permission names the user, and mode and owner of the file', async () => {
  const path = join(folder, 'server.json');
  await writeFile(path, '{}');
  await chmod(path, 0o640);
  const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', path });
  const said = `this user is ${userName()}; ${path} has mode 0640 and belongs to uid ${process.getuid?.()}, gid `;
  expect(reasonOf(error)).toContain(`EACCES: permission denied (${said}`);
  expect(reasonOf(Object.assign(error, { code: 'ENOENT' }))).toBe('EACCES: permission denied');
});

test('the nearest folder stands for a file that is missing, or that the user may not look at', async () => {
  await mkdir(join(folder, 'closed'), { mode: 0o700 });
  const said = `; ${join(folder, 'closed')} has mode 0700 and belongs to uid ${process.getuid?.()}, `;
  expect(describeAccess(join(folder, 'closed', 'deeper', 'missing'))).toContain(said);
});
