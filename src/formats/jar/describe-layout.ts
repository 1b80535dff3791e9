/** Where things are in a JAR, for people. */

import type { ZipEntry } from '../../zip/entry.ts';
import { END_RECORD_LENGTH } from '../../zip/fields.ts';
import type { Detail } from '../format.ts';
import type { JarLayout } from './layout.ts';
import { filesOf } from './remove.ts';

export function describeLayout({ archive, manifest, signable, signatureFiles }: JarLayout): readonly Detail[] {
  const { end, start, entries } = archive;
  const details: Detail[] = [
    { name: 'entries', value: `${entries.length}, ${signable.length} of them files to sign` },
    { name: 'directory', value: `at ${end.directoryOffset}, ${inBytes(end.directorySize)}` },
  ];
  const add = (name: string, value: string): void => {
    details.push({ name, value });
  };
  if (start > 0) add('preamble', `${inBytes(start)}, ${end.base > 0 ? 'not counted' : 'counted'} in offsets`);
  const commentLength = end.record.readUInt16LE(END_RECORD_LENGTH - 2);
  if (commentLength > 0) add('comment', inBytes(commentLength));
  if (end.zip64 !== undefined) add('zip64', inBytes(end.zip64.length));
  if (end.trailingLength > 0) add('bytes after the archive', String(end.trailingLength));
  if (manifest === undefined) add('manifest', 'none');
  else add('manifest', `${placeOf(manifest.entry)}, ${sectionCount(manifest.parsed.sections())} sections`);
  for (const [base, files] of signatureFiles) add(`signature ${base}`, filesOf(files).map(placeOf).join('; '));
  return details;
}

function placeOf({ name, offset, size }: ZipEntry): string {
  return `${name} at ${offset}, ${inBytes(size)}`;
}

function sectionCount(sections: Iterable<unknown>): number {
  let count = 0;
  for (const _ of sections) count++;
  return count;
}

function inBytes(length: number): string {
  return `${length} bytes`;
}
