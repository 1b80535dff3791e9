/** Files are opened to be read without waiting for another program, and nothing but files is opened. */

import { execFileSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openToRead, readFileUpTo } from '../../../src/bytes/read-file.ts';
import { readCertificateFiles } from '../../../src/options/credentials/files.ts';
import { readSignatureFile } from '../../../src/signing/changes/attach.ts';
import { folderForEach } from '../../support/set-up.ts';

const folder = folderForEach();

it('reads a file, through a link and through a descriptor of this process too', async () => {
  const path = folder.at('file');
  await writeFile(path, 'text');
  await symlink('file', folder.at('link'));
  await using opened = await openToRead(folder.at('link'));
  expect(await opened.readFile('utf8')).toBe('text');
  if (process.platform === 'linux') {
    expect(Buffer.from(await readFileUpTo(`/proc/self/fd/${opened.fd}`, 4)).toString()).toBe('text');
  }
});

it.skipIf(process.platform === 'win32')('rejects a named pipe without a writer, a device and a folder', async () => {
  const pipe = folder.at('pipe');
  execFileSync('mkfifo', [pipe]);
  await symlink('pipe', folder.at('link'));
  await expect(openToRead(folder.at('link'))).rejects.toMatchObject({ code: 'ENXIO' });
  await expect(openToRead('/dev/zero')).rejects.toMatchObject({ code: 'ENXIO' });
  await expect(openToRead(folder.path)).rejects.toMatchObject({ code: 'EISDIR' });
  await expect(readCertificateFiles([pipe], {})).rejects.toMatchObject({
    code: 'certificate-file-missing',
    message: expect.stringContaining('it is a pipe'),
  });
  const open = async () => (await openToRead(pipe)).createReadStream();
  await expect(readSignatureFile(open, pipe)).rejects.toMatchObject({ code: 'signature-file-unreadable' });
});
