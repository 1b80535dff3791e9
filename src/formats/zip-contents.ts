import { createInflateRaw } from 'node:zlib';
import { type ByteSource, memorySource, rangeSource } from '../bytes/byte-source.ts';
import { forwardSource, through } from '../bytes/forward-source.ts';
import { patchedSource } from '../bytes/patched-source.ts';
import { type Patch, patchedPieces } from '../bytes/pieces.ts';
import { LARGEST_BUFFERED } from '../format/contents.ts';
import type { Contents } from '../format/signable-file.ts';
import type { ZipArchive } from '../zip/archive.ts';
import { type ChangedContents, changeEntries, deflated, stored } from '../zip/change-entries.ts';
import { isDirectory, type ZipEntry } from '../zip/directory.ts';
import { asBuffer, DEFLATED } from '../zip/fields.ts';
import { unpack, unpackInPieces } from '../zip/unpack.ts';

export function zipContents(source: ByteSource, archive: ZipArchive): Contents {
  const { byName, entries: all } = archive;
  const entries: Contents['entries'] = async function* () {
    for (const entry of all) {
      if (!isDirectory(entry)) yield { name: entry.name, size: entry.size, open: () => openEntry(source, entry) };
    }
  };
  return {
    entries,
    changing: {
      entries,
      async write(patches) {
        const changed = new Map<ZipEntry, ChangedContents>();
        for (const [name, patch] of patches) {
          const entry = byName.get(name);
          if (entry === undefined) throw new TypeError('only entries of the archive can be changed');
          changed.set(entry, await changedContents(source, entry, patch));
        }
        return await changeEntries(source, archive, changed);
      },
    },
  };
}

async function changedContents(source: ByteSource, entry: ZipEntry, patch: Patch): Promise<ChangedContents> {
  if (entry.method === DEFLATED) return await deflated(patchedSource(await openEntry(source, entry), patch));
  return await stored(source, entry, patchedPieces(patch, entry.size));
}

/** Checks all data of the entry before returning it. Throws `zip-entry-damaged`. */
async function openEntry(source: ByteSource, entry: ZipEntry): Promise<ByteSource> {
  const { dataOffset, compressedSize, size, method } = entry;
  if (size <= LARGEST_BUFFERED && compressedSize <= LARGEST_BUFFERED) {
    return memorySource(unpack(asBuffer(await source.read(dataOffset, compressedSize)), entry));
  }
  await unpackInPieces(source, entry, () => undefined);
  const data = rangeSource(source, dataOffset, dataOffset + compressedSize);
  if (method !== DEFLATED) return data;
  return forwardSource(size, () => through(data, createInflateRaw({ chunkSize: 256 * 1024 })));
}
