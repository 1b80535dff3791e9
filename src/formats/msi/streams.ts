import type { ByteSource } from '../../bytes/byte-source.ts';
import { patchedSource } from '../../bytes/patched-source.ts';
import { readPieces } from '../../bytes/pieces.ts';
import type { CompoundStream } from '../../compound-file/format.ts';

export async function readStream(source: ByteSource, { content }: CompoundStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readPieces(source, content)) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

export function streamSource(source: ByteSource, { content }: CompoundStream): ByteSource {
  return patchedSource(source, [{ offset: 0, remove: source.size, insert: content }]);
}
