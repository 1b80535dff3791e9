import { basename } from 'node:path';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import type { ExtraPolicy, FilenameMask } from '../../options/commands/sign.ts';
import type { Extra } from '../../service/messages.ts';

export interface ClientInfo {
  /** SHA-256 of the access key, in hex: the journal knows by it whose calls these are. Never sent. */
  readonly id: string;
  readonly policy: ExtraPolicy;
  readonly mask: FilenameMask;
  readonly platform: string;
  readonly version: string;
  readonly revision: string;
  readonly hostname: string;
}

/** The `extra` member for one file: `path` as the user gave it, `size` in bytes; undefined when nothing is to be sent. */
export function describeRequest(client: ClientInfo, path: string, size: number, time: Date): Extra | undefined {
  if (client.policy === 'none') return undefined;
  const { platform, version, revision } = client;
  const extra: Extra = { platform, version, revision, time: time.toISOString(), signing_filesize: size };
  if (client.policy === 'anonymous') return extra;
  const filename = maskFilename(client.mask, path);
  return { ...extra, hostname: client.hostname, ...(filename === undefined ? {} : { signing_filename: filename }) };
}

/** The name as it may be recorded and sent; undefined when it may not. */
export function maskFilename(mask: FilenameMask, path: string): string | undefined {
  switch (mask) {
    case 'none':
      return path;
    case 'basename':
      return basename(path);
    case 'hash':
      return `sha256:${fingerprintOf(path)}`;
    case 'omit':
      return undefined;
  }
}
