/** Tells of a large file how far it has been read. */

import type { OnRead } from '../bytes/watched-source.ts';
import type { BytesRead } from './outcome.ts';

export function tellBytesRead(path: string, onEvent: (event: BytesRead) => void): OnRead {
  return (bytes, size) => onEvent({ type: 'bytes-read', path, bytes, size });
}
