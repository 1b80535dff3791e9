/** The files in an archive that follows the program: a ZIP archive, or the cabinets of a WiX Burn bundle. */

import { type ByteSource, rangeSource } from '../../bytes/byte-source.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ContainedFile } from '../../format/signable-file.ts';
import { readArchive } from '../../zip/archive.ts';
import { endsLikeArchive } from '../../zip/end-record.ts';
import { cabinetFiles } from '../cabinet-contents.ts';
import { zipContents } from '../zip-contents.ts';
import type { PeLayout } from './layout.ts';

/**
 * Number of bytes to search after the last section or the previous cabinet. Burn stores a signature between two
 * cabinets.
 */
const SEARCHED = 64 * 1024;
const MOST_CABINETS = 64;
const CABINET = Buffer.from('MSCF\0\0\0\0');
const CABINET_HEADER_LENGTH = 36;

/** Byte sequences that identify installers whose data this program cannot read. */
const INSTALLERS: readonly (readonly [mark: Buffer, kind: string])[] = [
  [Buffer.from('\xef\xbe\xad\xdeNullsoftInst', 'latin1'), 'an NSIS installer'],
  [Buffer.from('zlb\x1a', 'latin1'), 'an Inno Setup installer'],
  [Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1'), 'a 7-Zip archive'],
  [Buffer.from('Rar!\x1a\x07', 'latin1'), 'a RAR archive'],
];

export async function* appendedFiles(source: ByteSource, layout: PeLayout): AsyncGenerator<ContainedFile> {
  const end = layout.programEnd;
  const start = layout.sections.reduce((last, section) => Math.max(last, section.end), layout.headersLength);
  if (start >= end) return;
  if (await endsLikeArchive(rangeSource(source, start, end))) {
    const program = rangeSource(source, 0, end);
    yield* zipContents(program, await readArchive(program)).entries();
    return;
  }
  let after = start;
  for (let index = 1; index <= MOST_CABINETS; index += 1) {
    const cabinet = await findCabinet(source, after, end);
    if (cabinet === undefined) break;
    for await (const file of cabinetFiles(rangeSource(source, cabinet.start, cabinet.end))) {
      yield { ...file, name: `cabinet-${index}/${file.name}` };
    }
    after = cabinet.end;
  }
  const head = Buffer.from(await source.read(start, Math.min(SEARCHED, end - start)));
  const kind = after === start ? INSTALLERS.find(([mark]) => head.includes(mark))?.[1] : undefined;
  if (kind !== undefined) {
    const open = async () => Promise.reject(formatErrors('container-unsupported', { kind }));
    yield { name: 'appended data', size: 0, open };
  }
}

async function findCabinet(source: ByteSource, from: number, end: number) {
  const bytes = Buffer.from(await source.read(from, Math.min(SEARCHED, end - from)));
  for (let at = bytes.indexOf(CABINET); at >= 0; at = bytes.indexOf(CABINET, at + 1)) {
    if (at + CABINET_HEADER_LENGTH > bytes.length) return undefined;
    const size = bytes.readUInt32LE(at + 8);
    const isVersion1 = bytes[at + 25] === 1;
    if (isVersion1 && size >= CABINET_HEADER_LENGTH && from + at + size <= end) {
      return { start: from + at, end: from + at + size };
    }
  }
  return undefined;
}
