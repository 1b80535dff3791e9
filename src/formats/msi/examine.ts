import type { Element } from '../../asn1/read.ts';
import { sipVersionOf } from '../../authenticode/sip-info.ts';
import { examineRest, type StoredCms } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { guidText } from '../../bytes/guid.ts';
import { areZero, type ByteRange } from '../../bytes/pieces.ts';
import type { CompoundFile, CompoundStorage } from '../../compound-file/format.ts';
import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../../crypto/algorithms.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import type { Detail } from '../../format/signature.ts';
import { digestMetadata, SIP_VERSION } from './content.ts';
import { msiErrors } from './errors.ts';

export interface Installer {
  readonly kind: string;
  readonly file: CompoundFile;
  readonly root: CompoundStorage;
  readonly stored: StoredCms | undefined;
  readonly metadata: Uint8Array | undefined;
  /** Bytes after the last sector in use. undefined if all of them are zeros. */
  readonly trailing: ByteRange | undefined;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['000C1084-0000-0000-C000-000000000046', 'installer package'],
  ['000C1086-0000-0000-C000-000000000046', 'installer patch'],
  ['000C1082-0000-0000-C000-000000000046', 'installer transform'],
]);
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['WordDocument', 'a Word document'],
  ['Workbook', 'an Excel workbook'],
  ['Book', 'an Excel workbook'],
  ['PowerPoint Document', 'a PowerPoint presentation'],
  ['VisioDocument', 'a Visio drawing'],
  ['__properties_version1.0', 'an Outlook message'],
]);

export function installerKindOf({ entry, children }: CompoundStorage): string {
  const kind = KINDS.get(guidText(entry.subarray(80, 96)));
  if (kind !== undefined) return kind;
  const names = children.map(({ name }) => Buffer.from(name).toString('utf16le'));
  const looksLike = names.map((name) => OTHERS.get(name)).find((other) => other !== undefined);
  throw msiErrors('not-an-installer-file', { looksLike: looksLike ?? 'a compound file (OLE) of another program' });
}

export async function trailingBytes(source: ByteSource, { unused }: CompoundFile): Promise<ByteRange | undefined> {
  let last: ByteRange | undefined;
  for (const range of unused) last = range;
  return last?.end === source.size && !(await areZero(source, [last])) ? last : undefined;
}

export async function examineInstaller(installer: Installer, source: ByteSource): Promise<readonly Finding[]> {
  const { stored, file } = installer;
  if (stored === undefined) return [];
  for (const range of file.unused) {
    if (await areZero(source, [range])) continue;
    const message = `Bytes ${range.start} to ${range.end} belong to no stream, are not empty, and are covered by no signature: Windows rejects the file.`;
    return [broken('hidden-bytes', message), ...examineRest(stored)];
  }
  return examineRest(stored);
}

/** Unlike Windows, compares the digest of the metadata, which must exist if SpcSipInfo has version 2. */
export function examineMetadata({ metadata, root }: Installer, sipInfo: Element | undefined): readonly Finding[] {
  if (metadata === undefined) {
    const isPromised = sipInfo !== undefined && orUndefined(() => sipVersionOf(sipInfo)) === SIP_VERSION.withMetadata;
    if (!isPromised) return [];
    const message = 'The digest of names, sizes and times, which the signature covers, is not in the file.';
    return [broken('metadata-digest-missing', message)];
  }
  const isDigest = (algorithm: DigestAlgorithm) => Buffer.compare(digestMetadata(root, algorithm), metadata) === 0;
  if (DIGEST_ALGORITHMS.some(isDigest)) return [];
  const message = 'MsiDigitalSignatureEx is not the digest of the names, sizes and times in the file.';
  return [broken('metadata-digest-differs', message)];
}

export function describeInstaller({ kind, file, root, stored, metadata }: Installer): readonly Detail[] {
  return [
    { name: 'file', value: `${kind}, compound file of version ${file.version}` },
    { name: 'streams and storages', value: `${root.children.length} in the root` },
    { name: 'signature', value: stored === undefined ? 'none' : 'in the stream DigitalSignature' },
    { name: 'metadata digest', value: metadata === undefined ? 'none' : 'in the stream MsiDigitalSignatureEx' },
  ];
}
