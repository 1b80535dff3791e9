import { createGunzip } from 'node:zlib';
import { type ByteSource, memorySource } from '../../bytes/byte-source.ts';
import { forwardSource, through } from '../../bytes/forward-source.ts';
import { checkInflated, LARGEST_BUFFERED } from '../../format/contents.ts';
import { tarErrors } from './errors.ts';

/** RFC 1952, 2.2: a file can have several members. Throws `gzip-malformed`, `contents-too-large`. */
export async function gunzip(source: ByteSource, most?: number): Promise<ByteSource> {
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

export async function gunzipHead(source: ByteSource, length: number): Promise<Uint8Array> {
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
    throw isOfZlib ? tarErrors('gzip-malformed', { problem: thrown.message }, { cause: thrown }) : thrown;
  }
}
