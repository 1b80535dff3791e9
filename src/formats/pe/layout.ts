/** Offsets of PE fields that signing reads or changes ("PE Format": MS-DOS stub, COFF header, optional header). */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { Cursor } from '../../bytes/cursor.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { describeNewHeader } from '../recognise.ts';
import { type CertificateTable, locateCertificateTable, readSections } from './certificate-table.ts';
import { peErrors } from './errors.ts';

export interface PeLayout {
  readonly fileSize: number;
  /** This offset is odd if e_lfanew is odd. */
  readonly checksumOffset: number;
  readonly checksum: number;
  readonly program: ProgramKind;
  readonly headersLength: number;
  readonly sections: readonly ByteRange[];
  /** Offset and content of the Certificate Table entry in the data directories. */
  readonly tableEntryOffset: number;
  readonly tableEntry: CertificateTable;
  /** Length of the program without its certificate table. */
  readonly programEnd: number;
  readonly table: CertificateTable | undefined;
  readonly warnings: readonly string[];
}

export interface ProgramKind {
  readonly isPlus: boolean;
  readonly machine: number;
  readonly subsystem: number;
}

const DOS_HEADER_LENGTH = 64;
const E_LFANEW = 60;
const COFF_HEADER_LENGTH = 20;
const SIZE_OF_HEADERS = 60;
const CHECKSUM = 64;
const SUBSYSTEM = 68;
const PE32_PLUS = 0x20b;
/** Offset of NumberOfRvaAndSizes, keyed by the magic number of the optional header. */
const DIRECTORY_COUNT_OFFSET: ReadonlyMap<number, number> = new Map([
  [0x10b, 92],
  [PE32_PLUS, 108],
]);
const CERTIFICATE_TABLE = 4;
const DIRECTORY_LENGTH = 8;
export const MAXIMUM_SIZE = 2 ** 32 - 1;
/** Space reserved for the signature, which is usually a few kilobytes long. */
const SIGNATURE_ROOM = 1024 * 1024;

export async function readLayout(source: ByteSource): Promise<PeLayout> {
  const { sectionTableOffset, sectionCount, ...header } = await readOptionalHeader(source);
  const sections = await readSections(source, sectionTableOffset, sectionCount);
  const { table, warning } = await locateCertificateTable(source, header.tableEntry, sections);

  const programEnd = table?.offset ?? source.size;
  if (programEnd + SIGNATURE_ROOM > MAXIMUM_SIZE) throw tooLarge(source.size);

  const warnings = warning === undefined ? [] : [warning];
  return { ...header, fileSize: source.size, sections: sections.data, programEnd, table, warnings };
}

export const tooLarge = (size: number) =>
  bytesErrors('file-too-large', { size, kind: 'PE programs', limit: MAXIMUM_SIZE });

export async function seemsSigned(source: ByteSource): Promise<boolean> {
  const header = await readOptionalHeader(source).catch(expectedError);
  return !(header instanceof CodesignError) && header.tableEntry.offset > 0 && header.tableEntry.size > 0;
}

async function readOptionalHeader(source: ByteSource) {
  const peOffset = await findPeSignature(source);
  const coffOffset = peOffset + 4;
  const coff = await readHeader(source, coffOffset, COFF_HEADER_LENGTH, 'COFF header');
  const machine = coff.u16('Machine');
  const sectionCount = coff.u16('NumberOfSections');
  const optionalLength = coff.skip(12, 'COFF symbol table').u16('SizeOfOptionalHeader');

  const offset = coffOffset + COFF_HEADER_LENGTH;
  const magic = (await readHeader(source, offset, 2, 'optional header')).u16('Magic');
  const countOffset = DIRECTORY_COUNT_OFFSET.get(magic);
  if (countOffset === undefined) {
    throw peErrors('unknown-optional-header', { offset, magic: `0x${magic.toString(16)}` });
  }

  const directoriesOffset = countOffset + 4;
  const entry = directoriesOffset + CERTIFICATE_TABLE * DIRECTORY_LENGTH;
  const fields = await readHeader(source, offset, directoriesOffset, 'optional header');
  const headersLength = fields.seek(offset + SIZE_OF_HEADERS, 'SizeOfHeaders').u32('SizeOfHeaders');
  const checksum = fields.seek(offset + CHECKSUM, 'CheckSum').u32('CheckSum');
  const subsystem = fields.seek(offset + SUBSYSTEM, 'Subsystem').u16('Subsystem');
  const directories = fields.seek(offset + countOffset, 'NumberOfRvaAndSizes').u32('NumberOfRvaAndSizes');
  if (directories <= CERTIFICATE_TABLE)
    throw noSlot(`it has ${directories} data directories, the signature's is the 5th`);
  const end = entry + DIRECTORY_LENGTH;
  if (optionalLength < end)
    throw noSlot(`its SizeOfOptionalHeader is ${optionalLength}, the signature's entry would end at ${end}`);

  const directory = await readHeader(source, offset + entry, DIRECTORY_LENGTH, 'optional header');
  return {
    checksumOffset: offset + CHECKSUM,
    checksum,
    headersLength,
    program: { isPlus: magic === PE32_PLUS, machine, subsystem },
    tableEntryOffset: offset + entry,
    tableEntry: { offset: directory.u32('certificate table offset'), size: directory.u32('certificate table size') },
    sectionTableOffset: offset + optionalLength,
    sectionCount,
  };
}

const noSlot = (reason: string) => peErrors('no-certificate-slot', { reason });

async function findPeSignature(source: ByteSource): Promise<number> {
  if (source.size < DOS_HEADER_LENGTH) throw peErrors('not-a-pe', { looksLike: describeNewHeader('') });
  const offset = new Cursor(await source.read(E_LFANEW, 4), E_LFANEW).u32('e_lfanew');
  if (offset + 4 > source.size)
    throw peErrors('not-a-pe', { looksLike: 'a DOS program (MZ), or the torn-off start of a PE' });

  const signature = Buffer.from(await source.read(offset, 4)).toString('latin1');
  if (signature !== 'PE\0\0') throw peErrors('not-a-pe', { looksLike: describeNewHeader(signature.slice(0, 2)) });
  return offset;
}

async function readHeader(source: ByteSource, offset: number, length: number, what: string): Promise<Cursor> {
  if (offset + length > source.size)
    throw bytesErrors('file-truncated', { what: `its ${what}`, end: offset + length, size: source.size });
  return new Cursor(await source.read(offset, length), offset);
}
