import { createInflateRaw } from 'node:zlib';
import { type ByteSource, memorySource, rangeSource } from '../bytes/byte-source.ts';
import { forwardSource, through } from '../bytes/forward-source.ts';
import { LARGEST_BUFFERED } from '../format/contents.ts';
import type { Contents } from '../format/signable-file.ts';
import { readArchive, type ZipArchive } from '../zip/archive.ts';
import { isDirectory, type ZipEntry } from '../zip/directory.ts';
import { asBuffer, DEFLATED } from '../zip/fields.ts';
import { unpack, unpackInPieces } from '../zip/unpack.ts';

export function zipContents(source: ByteSource, archive?: ZipArchive): Contents {
  return {
    changing: undefined,
    async *entries() {
      const { entries } = archive ?? (await readArchive(source));
      for (const entry of entries) {
        if (!isDirectory(entry)) yield { name: entry.name, size: entry.size, open: () => openEntry(source, entry) };
      }
    },
  };
}

/** Checks all data of the entry first. Throws `zip-entry-damaged`. */
async function openEntry(source: ByteSource, entry: ZipEntry): Promise<ByteSource> {
  const { dataOffset, compressedSize, size, method } = entry;
  if (size <= LARGEST_BUFFERED && compressedSize <= LARGEST_BUFFERED) {
    return memorySource(unpack(asBuffer(await source.read(dataOffset, compressedSize)), entry));
  }
  await unpackInPieces(source, entry, () => undefined);
  const data = rangeSource(source, dataOffset, dataOffset + compressedSize);
  return method === DEFLATED ? forwardSource(size, () => through(data, createInflateRaw())) : data;
}
