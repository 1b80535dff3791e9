/** Reads a package, which is a ZIP archive with three special XML files (MS-APPX, "App package file format"). */

import { type StoredCms, splitCms } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { readArchive, type ZipArchive } from '../../zip/archive.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { asBuffer, END_RECORD_LENGTH, IN_ZIP64_16, IN_ZIP64_32 } from '../../zip/fields.ts';
import { unpack } from '../../zip/unpack.ts';
import { compareSizes, mappedName, readBlockMap } from './block-map.ts';
import { type ContentTypes, readContentTypes } from './content-types.ts';
import { appxErrors } from './errors.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { PARTS } from './part-names.ts';

export interface Part {
  readonly entry: ZipEntry;
  readonly bytes: Uint8Array;
}

export interface AppxPackage {
  readonly kind: 'package' | 'bundle';
  readonly archive: ZipArchive;
  readonly manifest: Manifest;
  readonly manifestPart: Part;
  readonly blockMap: Part;
  /** Signatures must use the algorithm of the block map. */
  readonly algorithm: DigestAlgorithm;
  readonly wrongSizes: readonly string[];
  readonly contentTypes: Part & ContentTypes;
  readonly codeIntegrity: Part | undefined;
  readonly signature: StoredSignature | undefined;
}

export interface StoredSignature extends StoredCms {
  readonly entry: ZipEntry;
  readonly hasMagic: boolean;
}

const LONGEST_BLOCK_MAP = 64 * 1024 * 1024;
const LONGEST_TEXT = 2 * 1024 * 1024;
const LONGEST_BINARY = 16 * 1024 * 1024;
/** Number of bytes that are reserved for a signature in a package without ZIP64. */
export const ROOM = 16 * 1024 * 1024;
const MAGIC = 'PKCX';

export async function readPackage(source: ByteSource): Promise<AppxPackage> {
  const archive = await readArchive(source);
  const { byName } = archive;
  checkPlain(source, archive);
  const kind = byName.has(PARTS.bundle) ? 'bundle' : 'package';
  const manifestName = PARTS[kind];
  const part = async (name: string, longest = LONGEST_TEXT): Promise<Part> => {
    const entry = byName.get(name);
    if (entry === undefined) throw appxErrors('appx-malformed', { problem: `it has no ${name}` });
    return readPart(source, entry, longest);
  };
  const manifestPart = await part(manifestName);
  const manifest = namedAsEntries(readManifest(kind, manifestName, manifestPart.bytes), archive);
  const blockMap = await part(PARTS.blockMap, LONGEST_BLOCK_MAP);
  const contentTypes = await part(PARTS.contentTypes);
  const map = readBlockMap(blockMap.bytes);
  return {
    kind,
    archive,
    manifest,
    manifestPart,
    blockMap,
    algorithm: map.algorithm,
    wrongSizes: compareSizes(map, mappedEntries(archive, manifest)),
    contentTypes: { ...contentTypes, ...readContentTypes(contentTypes.bytes) },
    codeIntegrity: byName.has(PARTS.codeIntegrity) ? await part(PARTS.codeIntegrity, LONGEST_BINARY) : undefined,
    signature: await readSignature(source, archive),
  };
}

/** In entry names, non-ASCII characters are percent-encoded, and letter case can differ from the manifest. */
function namedAsEntries(manifest: Manifest, { entries }: ZipArchive): Manifest {
  if (manifest.packages.length === 0) return manifest;
  const isTwice = (name: string) => appxErrors('appx-malformed', { problem: `the name ${name} occurs twice` });
  const names = new Map<string, string>();
  for (const { name } of entries) {
    const key = mappedName(name).toLowerCase();
    if (names.has(key)) throw isTwice(name);
    names.set(key, name);
  }
  const taken = new Set<string>();
  const packages = manifest.packages.map((each) => {
    const name = names.get(each.name.replaceAll('/', '\\').toLowerCase()) ?? each.name;
    if (taken.has(name)) throw isTwice(name);
    taken.add(name);
    return { ...each, name };
  });
  return { ...manifest, packages };
}

/** Returns the entries that the block map lists. Each package in a bundle has its own block map. */
export function mappedEntries({ entries }: ZipArchive, { packages }: Manifest): readonly ZipEntry[] {
  const bundled = new Set(packages.map(({ name }) => name));
  return entries.filter(({ name }) => !bundled.has(name));
}

function checkPlain({ size }: ByteSource, { end, start, entries }: ZipArchive): void {
  if (start !== 0 || end.base !== 0 || end.trailingLength !== 0 || end.locatorBase !== 0) {
    throw appxErrors('appx-malformed', { problem: 'there are bytes before or after the archive' });
  }
  // Windows does not find the end record of an archive with a comment.
  if (end.recordOffset + END_RECORD_LENGTH !== size)
    throw appxErrors('appx-malformed', { problem: 'the archive has a comment' });
  if (end.zip64 === undefined && (size + ROOM > IN_ZIP64_32 || entries.length + 1 >= IN_ZIP64_16)) {
    throw appxErrors('appx-too-large', { count: entries.length, size });
  }
}

async function readPart(source: ByteSource, entry: ZipEntry, longest: number): Promise<Part> {
  const { name, size, compressedSize, dataOffset } = entry;
  if (size > longest || compressedSize > longest) {
    throw appxErrors('appx-malformed', { problem: `${name} has ${Math.max(size, compressedSize)} bytes` });
  }
  return { entry, bytes: unpack(asBuffer(await source.read(dataOffset, compressedSize)), entry) };
}

async function readSignature(source: ByteSource, archive: ZipArchive): Promise<StoredSignature | undefined> {
  const entry = archive.byName.get(PARTS.signature);
  if (entry === undefined) return undefined;
  if (archive.entries.at(-1) !== entry || archive.inFile.at(-1) !== entry) throw appxErrors('appx-signature-not-last');
  const { bytes } = await readPart(source, entry, LONGEST_BINARY);
  const hasMagic = Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;
  return { entry, hasMagic, ...splitCms(hasMagic ? bytes.subarray(MAGIC.length) : bytes) };
}

export function signatureContents(cms: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(MAGIC, 'latin1'), cms]);
}
