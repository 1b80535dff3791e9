import { basename } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { CodesignError, expectedError } from '../errors/codesign-error.ts';
import { type Finding, isAgainst, note } from '../errors/finding.ts';
import type { Format } from '../format/format.ts';
import type { ContentReader, ListedFile, SignableFile } from '../format/signable-file.ts';
import { cab } from './cab/index.ts';
import { cat } from './cat/index.ts';
import { pe } from './pe/index.ts';

const HEAD_LENGTH = 4096;
const ALGORITHMS = ['SHA1', 'SHA256'] as const;
/** Formats whose files a catalog lists by Authenticode digests. Files of other formats are not opened. */
const LISTED: readonly Format[] = [pe, cab];

export const isCatalog = (format: string | null): boolean => format === cat.id;

/**
 * Returns the digests that a catalog lists for a file (CryptCATAdminCalcHashFromFileHandle2). Programs and cabinets are
 * listed by Authenticode digests, and other files by digests of all bytes. Calls `onOpen` only for programs and
 * cabinets.
 */
export async function listedFile(
  source: ByteSource,
  reader: ContentReader,
  path: string,
  onOpen: (opened: SignableFile) => void = () => undefined,
): Promise<ListedFile> {
  const head = await source.read(0, Math.min(HEAD_LENGTH, source.size));
  const format = LISTED.find(({ recognition }) => recognition.by === 'bytes' && recognition.claims(head, path));
  const opened = await format?.open(source, reader, path);
  if (opened !== undefined) onOpen(opened);
  const digests =
    (await opened?.listing?.digests(ALGORITHMS)) ??
    (await reader.measure(source, [{ start: 0, end: source.size }], ALGORITHMS)).digests;
  return { name: basename(path), kind: opened?.listing?.as ?? 'other', digests };
}

/** A wrong CheckSum is ignored, because Windows checks it only in drivers. */
const CHECKSUM = 'checksum-wrong';

/** Reports bytes that the digest in a catalog does not cover, such as bytes next to a signature. */
export async function examineListed(opened: SignableFile): Promise<readonly Finding[]> {
  const findings = await findingsIn(opened).catch(expectedError);
  const strange =
    findings instanceof CodesignError
      ? `${findings.message}.`
      : findings.find((finding) => isAgainst(finding, 'integrity') && finding.code !== CHECKSUM)?.message;
  return strange === undefined
    ? []
    : [note('listed-file-strange', `The catalog does not cover all of the file: ${strange}`)];
}

async function findingsIn(opened: SignableFile): Promise<readonly Finding[]> {
  const findings = [...(await opened.examine())];
  for (const signature of await opened.signatures()) {
    for (const finding of await signature.examine()) findings.push(finding);
  }
  return findings;
}
