import type { ByteSource } from '../../bytes/byte-source.ts';
import type { SignableFile } from '../../format/signable-file.ts';
import { readArchive } from '../../zip/archive.ts';
import { containerOnly } from '../container-only.ts';
import { zipContents } from '../zip-contents.ts';

export async function openZip(source: ByteSource): Promise<SignableFile> {
  const archive = await readArchive(source, 'any');
  return containerOnly(zipContents(source, archive), [{ name: 'entries', value: String(archive.entries.length) }]);
}
