import type { Format } from '../../format/format.ts';
import { isTarHeader } from './read-tar.ts';

export const tar = {
  id: 'tar',
  title: 'tar archive',
  extensions: ['.tar', '.tar.gz', '.tgz', '.gz'],
  signing: undefined,
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: (head) => isGzip(head) || isTarHeader(head.subarray(0, 512)) },
  open: async (source, _reader, name) => (await import('./open-tar.ts')).openTar(source, name),
  seemsSigned: async () => false,
} as const satisfies Format;

/** Compares the two identification bytes and the compression method, which is always deflate (RFC 1952, 2.3.1). */
function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}
