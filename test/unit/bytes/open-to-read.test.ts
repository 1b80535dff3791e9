/** Files are opened to be read without waiting for another program, and nothing but files is opened. */

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openToRead, readFileUpTo } from '../../../src/bytes/read-file.ts';
import { readCertificateFiles } from '../../../src/options/credentials/files.ts';
import { readSignatureFile } from '../../../src/signing/changes/attach.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-open-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('reads a file, through a link and through a descriptor of this process too', async () => {
  const path = join(folder, 'file');
  await writeFile(path, 'text');
  await symlink('file', join(folder, 'link'));
  await using opened = await openToRead(join(folder, 'link'));
  expect(await opened.readFile('utf8')).toBe('text');
  if (process.platform === 'linux') {
    expect(Buffer.from(await readFileUpTo(`/proc/self/fd/${opened.fd}`, 4)).toString()).toBe('text');
  }
});

it.skipIf(process.platform === 'win32')('rejects a named pipe without a writer, a device and a folder', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await symlink('pipe', join(folder, 'link'));
  await expect(openToRead(join(folder, 'link'))).rejects.toMatchObject({ code: 'ENXIO' });
  await expect(openToRead('/dev/zero')).rejects.toMatchObject({ code: 'ENXIO' });
  await expect(openToRead(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  await expect(readCertificateFiles([pipe], {})).rejects.toMatchObject({
    code: 'certificate-file-missing',
    message: expect.stringContaining('it is a pipe'),
  });
  const open = async () => (await openToRead(pipe)).createReadStream();
  await expect(readSignatureFile(open, pipe)).rejects.toMatchObject({ code: 'signature-file-unreadable' });
});
