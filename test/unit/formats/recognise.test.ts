import { expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { describeBytes, recogniseFormat } from '../../../src/formats/recognise.ts';
import { formats } from '../../../src/formats/registry.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const mz = (letters: string) => {
  const head = Buffer.alloc(256);
  head.write('MZ');
  head.writeUInt32LE(128, 60);
  head.write(letters, 128, 'latin1');
  return head;
};
const tar = Buffer.alloc(512);
tar.write('name');
tar.write('ustar', 257);

it.each([
  [bytes('\xca\xfe\xba\xbe\0\0\0\x02'), 'a macOS program or library (Mach-O)'],
  [bytes('\xca\xfe\xba\xbe\0\0\0\x41'), 'a compiled Java class'],
  [tar, 'a tar archive'],
  [bytes('MZ'), 'a DOS program (MZ)'],
  [mz('PE\0\0'), 'a Windows program (PE)'],
  [mz('LX'), 'an OS/2 program (LX)'],
  [mz('\0\0'), 'a DOS program (MZ)'],
  [Buffer.from('Grüße', 'utf8').subarray(0, 3), 'a text file'],
  [bytes('\xff\xfeh\0i\0'), 'a text file (UTF-16)'],
  [bytes('  <!DOCTYPE html><html>'), 'a web page (HTML)'],
  [bytes('version https://git-lfs.github.com/spec/v1\n'), 'a Git LFS pointer: the file itself was not fetched'],
  [bytes('\xff\xfa\x12'), 'data of an unknown kind'],
  [bytes('a\x00b'), 'data of an unknown kind'],
  [Buffer.alloc(4096), 'a file of zeros'],
])('describeBytes names %j', (head, name) => {
  expect(describeBytes(head)).toBe(name);
});

it('an empty file is called empty, also by a name that decides about text', async () => {
  const message = 'the file cannot be signed: it is empty';
  const connection = recogniseFormat(memorySource(bytes('')), ['empty.rdp'], { formats });
  await expect(connection).rejects.toMatchObject({ code: 'unsupported-format', message });
});
