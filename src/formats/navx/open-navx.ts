import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { Container } from '../../authenticode/container.ts';
import { type Sip, sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import { examineRest, readStoredCms, type StoredCms } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { ByteRange, Patch } from '../../bytes/pieces.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';

/** The GUID of NavSip.dll. signtool writes a different GUID each time, and no verifier compares the GUID. */
const SIP: Sip = { version: [1], guid: '36FFA03E-F824-48E7-8E07-4A2DCB034CC7' };

export async function openNavx(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const stored = layout.signature && (await readStoredCms(source, layout.signature));
  const { version, packageEnd, signature } = layout;
  return {
    ...authenticodeFile(signatureBlock(layout, stored, source, reader), reader.budget),
    layout: () => [
      { name: 'version', value: String(version) },
      { name: 'package end', value: `byte ${packageEnd}` },
      { name: 'signature', value: signature === undefined ? 'none' : `${signature.end - signature.start} bytes` },
    ],
  };
}

function signatureBlock(
  { packageEnd, fileSize }: NavxLayout,
  stored: StoredCms | undefined,
  source: ByteSource,
  { measure }: ContentReader,
): Container {
  const replaceBlock = (insert: readonly Uint8Array[]): Patch => [
    { offset: packageEnd, remove: fileSize - packageEnd, insert },
  ];
  return {
    source,
    kind: sipKind(undefined, 'a Business Central extension'),
    reasonForOneSignature: 'an extension can have only one signature',
    entries: stored === undefined ? [] : [{ location: 'signature block', cms: stored.cms }],
    measure: async (_content, algorithms) => measure(source, [{ start: 0, end: packageEnd }], algorithms),
    content: async () => spcSipInfo(SIP),
    write(cms) {
      const mark = Buffer.from(BLOCK_MARK);
      const offset = Buffer.alloc(4);
      offset.writeUInt32LE(packageEnd);
      return replaceBlock([mark, cms, offset, mark]);
    },
    removeAll: async () => (stored === undefined ? undefined : replaceBlock([])),
    examine: async () => examineRest(stored),
  };
}

const HEADER_LENGTH = 40;
/** This magic number precedes the CMS signature, and is repeated at the end of the file. */
const BLOCK_MARK = 'NXSB';
const FRAME_LENGTH = 12;
const MAXIMUM_SIZE = 2 ** 32 - 1;

interface NavxLayout {
  readonly version: number;
  readonly packageEnd: number;
  readonly fileSize: number;
  readonly signature: ByteRange | undefined;
}

export async function readLayout(source: ByteSource): Promise<NavxLayout> {
  const { size: fileSize } = source;
  if (fileSize < HEADER_LENGTH) {
    throw bytesErrors('file-truncated', { size: fileSize, what: 'its header', end: HEADER_LENGTH });
  }
  const header = Buffer.from(await source.read(0, HEADER_LENGTH));
  const isKnown = header.readUInt32LE(4) === HEADER_LENGTH && header.toString('latin1', 36) === 'NAVX';
  if (!isKnown) throw malformed('its header does not have the known form of 40 bytes');
  const packageEnd = HEADER_LENGTH + Number(header.readBigUInt64LE(28));
  if (packageEnd > fileSize)
    throw bytesErrors('file-truncated', { size: fileSize, what: 'its package', end: packageEnd });
  if (packageEnd > MAXIMUM_SIZE) {
    throw bytesErrors('file-too-large', { size: fileSize, kind: 'extensions', limit: MAXIMUM_SIZE });
  }
  const signature = await readBlock(source, packageEnd);
  return { version: header.readUInt32LE(8), packageEnd, fileSize, signature };
}

async function readBlock({ size, read }: ByteSource, start: number): Promise<ByteRange | undefined> {
  if (start === size) return undefined;
  const isBlock = size - start >= FRAME_LENGTH && markOf(await read(start, BLOCK_MARK.length)) === BLOCK_MARK;
  if (!isBlock) throw formatErrors('trailing-bytes', { length: size - start, what: 'the package', end: start });
  const end = Buffer.from(await read(size - 8, 8));
  if (markOf(end.subarray(4)) !== BLOCK_MARK) throw malformed('its signature block does not end with its mark');
  const offset = end.readUInt32LE(0);
  if (offset !== start) throw malformed(`its signature block refers to byte ${offset}, but begins at byte ${start}`);
  return { start: start + BLOCK_MARK.length, end: size - 8 };
}

function markOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

const malformed = (problem: string) => bytesErrors('file-malformed', { what: 'the extension', problem });
