import type { ByteSource } from '../../../bytes/byte-source.ts';
import { type Patch, patchedPieces } from '../../../bytes/pieces.ts';
import { stored } from '../../../zip/change-entries.ts';
import type { ZipEntry } from '../../../zip/directory.ts';
import { archiveBody, editLastEntry, type ReplacedEntry, replacedBy, shifts } from '../../../zip/edit-archive.ts';
import { CENTRAL_RECORD_LENGTH, STORED, UTF8_NAME } from '../../../zip/fields.ts';
import { localLength, plainlyDeflatedEntry } from '../../../zip/write-records.ts';
import { mappedName, PLAIN_BLOCK_LENGTH, withFile } from '../block-map.ts';
import { withPlaces } from '../manifest.ts';
import type { AppxPackage } from '../package.ts';
import { PARTS } from '../part-names.ts';
import { unfitPackage } from './packages.ts';

/** Removes the signature of the bundle. Reads the changed packages to compute their checksums. */
export async function rewriteBundle(
  source: ByteSource,
  { archive, manifest, manifestPart, blockMap, signature }: AppxPackage,
  patches: ReadonlyMap<string, Patch>,
): Promise<Patch> {
  const packages: ReplacedEntry[] = [];
  for (const [name, patch] of patches) {
    const entry = archive.byName.get(name);
    if (entry === undefined) throw unfitPackage(name, 'it is missing');
    packages.push(await patchedEntry(source, archive.directory, entry, patch));
  }
  const movedBy = shifts(archiveBody(archive, signature?.entry, packages).edits);
  const replacements = new Map(packages.map((one) => [one.entry.name, one]));
  const places = manifest.packages.map(({ name, offset, size }) => {
    const entry = archive.byName.get(name);
    const header = replacements.get(name)?.header;
    if (entry === undefined) return [name, { offset, size }] as const;
    const before = header ? localLength(header) - header.size : entry.dataOffset - entry.offset;
    return [name, { offset: movedBy(entry.offset) + before, size: header?.size ?? size }] as const;
  });
  const contents = withPlaces(manifestPart.bytes, manifest.packages, new Map(places));
  const newManifest = plainlyDeflatedEntry(PARTS.bundle, contents, PLAIN_BLOCK_LENGTH);
  const headerLength = localLength(newManifest) - newManifest.data.length;
  const newMap = withFile(blockMap.bytes, mappedName(PARTS.bundle), contents, headerLength);
  const parts = [
    replacedBy(manifestPart.entry, newManifest),
    replacedBy(blockMap.entry, plainlyDeflatedEntry(PARTS.blockMap, newMap)),
  ];
  return editLastEntry(archiveBody(archive, signature?.entry, [...packages, ...parts]));
}

async function patchedEntry(
  source: ByteSource,
  directory: Buffer,
  entry: ZipEntry,
  patch: Patch,
): Promise<ReplacedEntry> {
  const { flags, recordStart } = entry;
  const { crc32, size, data } = await stored(source, entry, patchedPieces(patch, entry.size));
  const nameStart = recordStart + CENTRAL_RECORD_LENGTH;
  const header = {
    name: directory.toString('latin1', nameStart, nameStart + directory.readUInt16LE(recordStart + 28)),
    flags: flags & UTF8_NAME,
    method: STORED,
    crc32,
    size,
    data: { length: size },
    extra: new Uint8Array(),
  };
  return { entry, header, data };
}
