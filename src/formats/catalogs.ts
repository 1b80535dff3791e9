/** Security catalogs, for those who know formats by their interface alone. */

import { basename } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { ContentReader, Format, ListedFile } from './format.ts';

const HEAD_LENGTH = 4096;
const ALGORITHMS = ['SHA1', 'SHA256'] as const;

/**
 * A file of any kind as catalogs list it (CryptCATAdminCalcHashFromFileHandle2): programs and cabinets by their Authenticode
 * digests, so that a signature in a program changes nothing, all others by the digests of all their bytes. Throws what is
 * wrong with a program or a cabinet.
 */
export async function listedFile(
  source: ByteSource,
  reader: ContentReader,
  path: string,
  formats: readonly Format[],
): Promise<ListedFile> {
  const head = await source.read(0, Math.min(HEAD_LENGTH, source.size));
  const format = formats.find(
    ({ listedAs, recognition }) => listedAs && recognition.by === 'bytes' && recognition.claims(head, path),
  );
  const opened = await format?.open(source, reader, path);
  const digests =
    (await opened?.listedDigests?.(ALGORITHMS)) ??
    (await reader.measure(source, [{ start: 0, end: source.size }], ALGORITHMS)).digests;
  return { name: basename(path), kind: format?.listedAs ?? 'other', digests };
}
