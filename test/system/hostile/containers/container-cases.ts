/** Hostile cabinets, scripts, connection files, extensions and catalogs: sizes that lie, names without end, marks of signatures without number. */

import { makeCabinet } from '../../../unit/formats/cab/samples.ts';
import { bareMember, makeCatalog, memberWith } from '../../../unit/formats/cat/samples.ts';
import { makeExtension } from '../../../unit/formats/navx/samples.ts';
import { type Bounds, LARGEST_BOUNDS } from '../bounds.ts';
import { repeated } from '../cases.ts';

export interface ContainerCase {
  readonly what: string;
  /** The extension decides what a script is. */
  readonly name: string;
  readonly make: () => Buffer;
  /** Zeros follow up to this size, in bytes, for which the file takes no space on the disk. */
  readonly size?: number;
  /** An error code, or `planned` if the file can be signed. */
  readonly result: string;
  /** What `verify` reports. Default: `result`, if it is a code. */
  readonly verified?: string;
  /** If `verify` does not read what is wrong. */
  readonly onlyToSign?: boolean;
  /** If it may use more than a file of some KB. */
  readonly bounds?: Bounds;
  readonly options?: readonly string[];
}

/** Makes cases of files with this name. */
export const casesOf =
  (name: string) =>
  (what: string, result: string, make: () => Buffer, more: Partial<ContainerCase> = {}): ContainerCase => ({
    ...{ what, name, make, result },
    ...more,
  });

const cabinet = casesOf('hostile.cab');
function changedCabinet(offset: number, value: number): () => Buffer {
  return () => {
    const bytes = makeCabinet();
    bytes.writeUInt32LE(value, offset);
    return bytes;
  };
}

/** As many folders as a header can count, each with as large a reserved area as there is. */
function manyFolders(): Buffer {
  const [plain, count, length] = [makeCabinet({ perFolder: 255 }), 65_535, 263];
  const folder = plain.subarray(40, 40 + length);
  const shift = (count - 1) * length;
  const bytes = Buffer.concat([plain.subarray(0, 40), repeated(count, folder), plain.subarray(40 + length)]);
  for (const offset of [8, 16]) bytes.writeUInt32LE(bytes.readUInt32LE(offset) + shift, offset);
  bytes.writeUInt16LE(count, 26);
  for (let at = 40; at < 40 + count * length; at += length) bytes.writeUInt32LE(folder.readUInt32LE(0) + shift, at);
  return bytes;
}

/** With a signature of these bytes. */
function signedCabinet(signature: Buffer): Buffer {
  const bytes = makeCabinet({ header: Buffer.from(`00001000${'00'.repeat(16)}`, 'hex') });
  bytes.writeUInt32LE(bytes.length, 44);
  bytes.writeUInt32LE(signature.length, 48);
  return Buffer.concat([bytes, signature]);
}

export const CABINET_CASES: readonly ContainerCase[] = [
  cabinet('a size of 4 GiB', 'file-truncated', changedCabinet(8, 0xffff_ffff)),
  cabinet('65,535 folders and files that are not there', 'file-malformed', changedCabinet(26, 0xffff_ffff)),
  cabinet('65,535 folders', 'planned', manyFolders),
  cabinet('a name of 20 MB', 'file-malformed', () => makeCabinet({ next: 'x'.repeat(20_000_000) })),
  cabinet('names without end', 'file-malformed', () => {
    const bytes = makeCabinet({ previous: 'x', next: 'y' });
    return Buffer.concat([bytes.subarray(0, 36), Buffer.alloc(20_000_000, 'x'), bytes.subarray(36)]);
  }),
  cabinet('a signature of 4 GiB', 'file-truncated', () => {
    const bytes = signedCabinet(Buffer.alloc(8));
    bytes.writeUInt32LE(0xffff_ffff, 48);
    return bytes;
  }),
  cabinet('a signature of 20 MB', 'planned', () => signedCabinet(Buffer.alloc(20_000_000, 0x30))),
  cabinet('a signature of endless depth', 'planned', () =>
    signedCabinet(repeated(8_000_000, Buffer.from('3080', 'hex'))),
  ),
];

const LARGEST = 16 * 1024 * 1024;
const BEGIN = '# SIG # Begin signature block\r\n';
const END_LINE = '# SIG # End signature block\r\n';
/** As often as it fits into the largest script. */
function filled(text: string, before = '', after = ''): () => Buffer {
  const count = Math.floor((LARGEST - before.length - after.length) / text.length);
  return () => Buffer.from(before + text.repeat(count) + after, 'latin1');
}
const script = casesOf('hostile.ps1');
const WSF = { name: 'hostile.wsf' };
const VBS = { name: 'hostile.vbs' };

export const SCRIPT_CASES: readonly ContainerCase[] = [
  script('a begin of a block in each of 500,000 lines', 'script-block-damaged', filled(`\r\n${BEGIN}`)),
  script('one begin and 500,000 ends', 'script-block-damaged', filled(END_LINE, `x\r\n${BEGIN}`)),
  script('8 million line ends of Windows', 'planned', filled('\r\n', 'x')),
  script('a block of 3 million lines', 'script-block-damaged', filled('# A\r\n', `x\r\n${BEGIN}`, END_LINE)),
  script('a block of one line', 'script-block-damaged', filled('A', `x\r\n${BEGIN}# `, `\r\n${END_LINE}`)),
  script('nothing but characters beyond ASCII', 'planned', filled('\xe2\x98\x83', '\xef\xbb\xbf')),
  script('UTF-16', 'planned', filled(Buffer.from('\u2603x', 'utf16le').toString('latin1'), '\xff\xfe')),
  script('a million jobs', 'planned', filled('<job></job>\r\n'), { ...WSF, bounds: LARGEST_BOUNDS }),
  script('a million signature elements', 'script-block-damaged', filled('\r\n<signature>\r\n', '<job>', '</job>'), WSF),
  script('blocks in all lines', 'script-block-damaged', filled("\r\n'' SIG '' Begin signature block\r\n"), VBS),
  script('more than 16 MiB', 'file-too-large', () => Buffer.alloc(LARGEST + 1, 'x'), VBS),
];

const ADDRESS = 'full address:s:server.example.com\r\n';
const connection = (what: string, result: string, text: () => string): ContainerCase =>
  casesOf('hostile.rdp')(what, result, () => Buffer.from(ADDRESS + text(), 'latin1'));
/** With the header of a signature. */
function signatureLines(scope: string, cms: Buffer): string {
  const header = Buffer.from(Uint32Array.of(0x0001_0001, 1, cms.length).buffer);
  return `signscope:s:${scope}\r\nsignature:s:${Buffer.concat([header, cms]).toString('base64')}\r\n`;
}

export const CONNECTION_CASES: readonly ContainerCase[] = [
  connection('a million lines', 'planned', () => '\n'.repeat(1_000_000)),
  connection('one line of a million colons', 'planned', () => ':'.repeat(1_000_000)),
  connection('a scope of 500,000 names', 'planned', () =>
    signatureLines('x,'.repeat(500_000), Buffer.from('3000', 'hex')),
  ),
  connection('a signature of endless depth', 'planned', () =>
    signatureLines('Full Address', repeated(350_000, Buffer.from('3080', 'hex'))),
  ),
  connection('more than 1 MiB', 'file-too-large', () => 'x'.repeat(1024 * 1024)),
];

const extension = casesOf('hostile.app');
function signedExtension(signature: Buffer): Buffer {
  const bytes = makeExtension(Buffer.from('package'));
  const [mark, start] = [Buffer.from('NXSB'), Buffer.from(Uint32Array.of(bytes.length).buffer)];
  return Buffer.concat([bytes, mark, signature, start, mark]);
}

export const EXTENSION_CASES: readonly ContainerCase[] = [
  extension('a package of 2^64 bytes', 'file-truncated', () => {
    const bytes = makeExtension(Buffer.from('package'));
    bytes.fill(0xff, 28, 36);
    return bytes;
  }),
  extension('a signature of 20 MB', 'planned', () => signedExtension(Buffer.alloc(20_000_000, 0x30))),
  extension('a signature of endless depth', 'planned', () =>
    signedExtension(repeated(8_000_000, Buffer.from('3080', 'hex'))),
  ),
];

const catalog = casesOf('hostile.cat');
const LARGE = { bounds: LARGEST_BOUNDS };
const members = (count: number, member: Uint8Array) => () => makeCatalog({ members: [repeated(count, member)] });
const emptyAttribute = Buffer.from('300506012a3100', 'hex');

export const CATALOG_CASES: readonly ContainerCase[] = [
  catalog('60,000 members', 'planned', members(60_000, bareMember), LARGE),
  catalog('400,000 members', 'file-malformed', members(400_000, bareMember), LARGE),
  catalog('60,000 attributes of a member', 'planned', members(1, memberWith(repeated(60_000, emptyAttribute))), LARGE),
  catalog('members without an end', 'file-malformed', members(8_000_000, Buffer.from('3080', 'hex')), LARGE),
  catalog('a size of 20 GB', 'file-too-large', () => makeCatalog({}), { size: 20_000_000_000 }),
];
