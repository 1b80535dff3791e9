import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Content } from '../../crypto/measure-content.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { readArchive, type ZipArchive } from '../../zip/archive.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { type ArchiveBody, archiveBody, tailOf } from '../../zip/edit-archive.ts';
import { zipErrors } from '../../zip/errors.ts';
import {
  asBuffer,
  CENTRAL_RECORD_LENGTH,
  END_RECORD_LENGTH,
  findExtraField,
  LOCAL_HEADER_LENGTH,
  STORED,
  UTF8_NAME,
  ZIP64_EXTRA,
} from '../../zip/fields.ts';
import { unpack } from '../../zip/unpack.ts';
import { nugetErrors } from './errors.ts';

export const SIGNATURE_NAME = '.signature.p7s';
const LONGEST_CMS = 16 * 1024 * 1024;
/** Required value of "version needed to extract" in the records of the signature. */
const VERSION = 20;

export interface NugetPackage {
  readonly archive: ZipArchive;
  readonly body: ArchiveBody;
  readonly signature: StoredSignature | undefined;
  /** Entries with a name similar to that of the signature, which NuGet does not recognise as a signature. */
  readonly lookalikes: readonly string[];
}

export interface StoredSignature {
  readonly entry: ZipEntry;
  readonly cms: Uint8Array | CodesignError;
  readonly problems: readonly string[];
}

export async function readPackage(source: ByteSource): Promise<NugetPackage> {
  const archive = await readArchive(source);
  await rejectZip64(source, archive);
  if (archive.end.base > 0) {
    throw zipErrors('zip-unsupported', { problem: 'its offsets do not count the bytes that precede it' });
  }
  const named = archive.entries.filter(({ name }) => name.toLowerCase() === SIGNATURE_NAME);
  const entry = named.find(({ name, flags }) => name === SIGNATURE_NAME && (flags & UTF8_NAME) === 0);
  const signature = entry && (await readSignature(source, archive, entry));
  const isLast = entry !== undefined && isLastIn(archive, entry);
  return {
    archive,
    body: archiveBody(archive, isLast ? entry : undefined),
    signature,
    lookalikes: named.filter((each) => each !== entry).map(({ name }) => name),
  };
}

/** NuGet rejects ZIP64 records and fields (NU3006). */
async function rejectZip64(source: ByteSource, { end, directory, entries }: ZipArchive): Promise<void> {
  if (end.zip64 !== undefined) throw nugetErrors('nuget-zip64', { reason: 'the package ends with them' });
  for (const { name, offset, dataOffset, recordStart } of entries) {
    const nameLength = directory.readUInt16LE(recordStart + 28);
    const extra = recordStart + CENTRAL_RECORD_LENGTH + nameLength;
    const extraEnd = extra + directory.readUInt16LE(recordStart + 30);
    const localExtra = offset + LOCAL_HEADER_LENGTH + nameLength;
    if (extraEnd === extra && dataOffset === localExtra) continue;
    const local = asBuffer(await source.read(localExtra, dataOffset - localExtra));
    if (
      findExtraField(directory, extra, extraEnd, ZIP64_EXTRA) !== undefined ||
      findExtraField(local, 0, local.length, ZIP64_EXTRA) !== undefined
    ) {
      throw nugetErrors('nuget-zip64', { reason: `the entry ${name} has a ZIP64 field` });
    }
  }
}

function isLastIn({ entries, inFile, end }: ZipArchive, entry: ZipEntry): boolean {
  return entries.at(-1) === entry && inFile.at(-1) === entry && entry.end === end.directoryOffset;
}

async function readSignature(source: ByteSource, archive: ZipArchive, entry: ZipEntry): Promise<StoredSignature> {
  const problems = await problemsOf(source, archive, entry);
  const { size, compressedSize, dataOffset } = entry;
  if (Math.max(size, compressedSize) > LONGEST_CMS) {
    return { entry, cms: entryError(`it has ${Math.max(size, compressedSize)} bytes`), problems };
  }
  // Copies the bytes, because a source in memory returns views, and the signature can be kept longer than the file.
  const data = Buffer.from(await source.read(dataOffset, compressedSize));
  const cms = await Promise.resolve()
    .then(() => unpack(data, entry))
    .catch(expectedError);
  return { entry, cms, problems: cms instanceof CodesignError ? [...problems, cms.message] : problems };
}

async function problemsOf(source: ByteSource, archive: ZipArchive, entry: ZipEntry): Promise<readonly string[]> {
  const { directory } = archive;
  const { recordStart, recordEnd, method, flags, offset, dataOffset } = entry;
  const header = asBuffer(await source.read(offset, LOCAL_HEADER_LENGTH));
  const [version, localVersion] = [directory.readUInt16LE(recordStart + 6), header.readUInt16LE(4)];
  const hasMore = recordEnd - recordStart > CENTRAL_RECORD_LENGTH + SIGNATURE_NAME.length;
  const deviations: readonly (readonly [boolean, string])[] = [
    [!isLastIn(archive, entry), 'it is not the last entry'],
    [method !== STORED, 'it is compressed'],
    [flags !== 0 || header.readUInt16LE(6) !== 0, 'it has flags'],
    [hasMore || dataOffset - offset > LOCAL_HEADER_LENGTH + SIGNATURE_NAME.length, 'it has extra fields or a comment'],
    [version !== VERSION || localVersion !== VERSION, `it needs version ${Math.max(version, localVersion)} to extract`],
    [directory.readUInt32LE(recordStart + 38) !== 0, 'it has external attributes'],
  ];
  return deviations.filter(([deviates]) => deviates).map(([, problem]) => problem);
}

export function entryError(problem: string): CodesignError {
  return nugetErrors('nuget-signature-entry', { name: SIGNATURE_NAME, problem });
}

/** Returns the content of the package without its signature. The content includes the comment of the archive. */
export function contentOf({ body, archive }: NugetPackage, { size }: ByteSource): Content {
  return [...body.content, ...tailOf(body), { start: archive.end.recordOffset + END_RECORD_LENGTH, end: size }];
}
