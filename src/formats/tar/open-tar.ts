import { basename } from 'node:path';
import { type ByteSource, rangeSource } from '../../bytes/byte-source.ts';
import type { ContainedFile, FindNeighbour, SignableFile } from '../../format/signable-file.ts';
import { containerOnly } from '../container-only.ts';
import { gunzip, gunzipHead } from './gunzip.ts';
import { BLOCK, isTarHeader, readTar } from './read-tar.ts';

/** Other gzip data is a container with one file. */
export async function openTar(source: ByteSource, name: string): Promise<SignableFile> {
  const isCompressed = !isTarHeader(await source.read(0, Math.min(BLOCK, source.size)));
  const isTar = !isCompressed || isTarHeader(await gunzipHead(source, BLOCK));
  async function* entries(_?: FindNeighbour, most?: number): AsyncGenerator<ContainedFile> {
    const data = isCompressed ? await gunzip(source, most) : source;
    if (isTar) yield* filesOf(data);
    else yield { name: basename(name).replace(/\.gz$/i, ''), size: data.size, open: async () => data };
  }
  const kind = `${isTar ? 'tar archive' : 'one file'}${isCompressed ? ', compressed with gzip' : ''}`;
  return containerOnly({ entries }, [{ name: 'kind', value: kind }]);
}

async function* filesOf(source: ByteSource): AsyncGenerator<ContainedFile> {
  for await (const { name, size, offset } of readTar(source)) {
    yield { name, size, open: async () => rangeSource(source, offset, offset + size) };
  }
}
