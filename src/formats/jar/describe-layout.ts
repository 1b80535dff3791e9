import { plural } from '../../errors/plural.ts';
import type { Detail } from '../../format/signature.ts';
import { isDirectory, type ZipEntry } from '../../zip/directory.ts';
import { END_RECORD_LENGTH, HAS_DESCRIPTOR, STORED } from '../../zip/fields.ts';
import { filesOf } from './embed.ts';
import { jarWarnings } from './errors.ts';
import { isFileName, type JarLayout, MANIFEST_NAME } from './layout.ts';
import { describeHalves, inWords, listingOf } from './listing.ts';

export function describeLayout({ archive, manifest, signable, signatureFiles }: JarLayout): readonly Detail[] {
  const { end, start, entries } = archive;
  const details: Detail[] = [
    { name: 'entries', value: `${entries.length}, including ${plural(signable.length, 'file')} to sign` },
    { name: 'directory', value: `at ${end.directoryOffset}, ${plural(end.directorySize, 'byte')}` },
  ];
  const add = (name: string, value: string) => details.push({ name, value });
  if (start > 0) add('preamble', `${plural(start, 'byte')}, ${end.base > 0 ? 'not counted' : 'counted'} in offsets`);
  const commentLength = end.record.readUInt16LE(END_RECORD_LENGTH - 2);
  if (commentLength > 0) add('comment', plural(commentLength, 'byte'));
  if (end.zip64 !== undefined) add('zip64', plural(end.zip64.length, 'byte'));
  if (end.trailingLength > 0) add('bytes after the archive', String(end.trailingLength));
  const sections = manifest && plural(listingOf(manifest.parsed.sections()).count, 'section');
  add('manifest', manifest === undefined ? 'none' : `${describeLocation(manifest.entry)}, ${sections}`);
  for (const [base, files] of signatureFiles) add(`signature ${base}`, filesOf(files).map(describeLocation).join('; '));
  return details;
}

function describeLocation({ name, offset, size }: ZipEntry): string {
  return `${name} at ${offset}, ${plural(size, 'byte')}`;
}

export function* describeOddities(layout: JarLayout): Generator<string> {
  const { archive, signable, signatureFiles } = layout;
  const { trailingLength } = archive.end;
  if (trailingLength > 0) yield jarWarnings('bytes-after-archive', { size: plural(trailingLength, 'byte') });
  const unstreamable = listingOf(archive.entries, isStoredWithDescriptor);
  if (unstreamable.count > 0) yield jarWarnings('entries-unstreamable', { entries: inWords(unstreamable) });
  if (signable.length === 0) yield jarWarnings('nothing-to-list');
  yield* manifestOddities(layout);
  for (const { missing, entries } of describeHalves(signatureFiles)) {
    yield jarWarnings('signature-incomplete', { missing, entries });
  }
}

function isStoredWithDescriptor(entry: ZipEntry): boolean {
  return entry.method === STORED && (entry.flags & HAS_DESCRIPTOR) !== 0 && !isDirectory(entry);
}

function* manifestOddities({ archive: { byName }, manifest }: JarLayout): Generator<string> {
  if (manifest === undefined) return yield jarWarnings('manifest-missing');
  const { entry, parsed } = manifest;
  if (entry.name !== MANIFEST_NAME) {
    yield jarWarnings('manifest-renamed', { name: entry.name, required: MANIFEST_NAME });
  }
  if (parsed.missingNewlines === 2) yield jarWarnings('manifest-line-open');
  const absent = listingOf(parsed.sections(), ({ name }) => !byName.has(name) && isFileName(name));
  if (absent.count > 0) yield jarWarnings('manifest-section-unused', { entries: inWords(absent) });
}
