import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { type ByteSource, memorySource, rangeSource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import { forwardSource, through } from '../../bytes/forward-source.ts';
import { checkInflated, LARGEST_BUFFERED } from '../../format/contents.ts';
import type { ContainedFile, FindNeighbour, SignableFile } from '../../format/signable-file.ts';
import { containerOnly } from '../container-only.ts';
import { BLOCK, isTarHeader, readTar } from './read-tar.ts';

/** If gzip data is not a tar archive, opens the data as a container with one file. */
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

/** Unpacks all members of the gzip file (RFC 1952, section 2.2). */
async function gunzip(source: ByteSource, most?: number): Promise<ByteSource> {
  let size = 0;
  let kept: Buffer[] = [];
  for await (const chunk of unzipped(source)) {
    size += chunk.length;
    checkInflated(size, source.size, most);
    if (size <= LARGEST_BUFFERED) kept.push(chunk);
    else kept = [];
  }
  return size <= LARGEST_BUFFERED ? memorySource(Buffer.concat(kept)) : forwardSource(size, () => unzipped(source));
}

async function gunzipHead(source: ByteSource, length: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of unzipped(source)) {
    chunks.push(chunk);
    if (chunks.reduce((sum, each) => sum + each.length, 0) >= length) break;
  }
  return Buffer.concat(chunks).subarray(0, length);
}

async function* unzipped(source: ByteSource): AsyncGenerator<Buffer> {
  try {
    yield* through(source, createGunzip({ chunkSize: 256 * 1024 }));
  } catch (thrown) {
    const isOfZlib = thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('Z_');
    if (!isOfZlib) throw thrown;
    throw bytesErrors('file-malformed', { what: 'the gzip data', problem: thrown.message }, { cause: thrown });
  }
}
