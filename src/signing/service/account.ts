import { basename } from 'node:path';
import type { Journal } from '../../journal/journal.ts';
import type { ReplacedExtra } from '../../options/extra.ts';
import type { Extra } from '../../service/messages.ts';
import type { SigningService } from '../../service/signing-service.ts';

export type SigningJournal = Pick<Journal, 'known' | 'claim' | 'knownFor' | 'repeatable'>;

export interface Account {
  readonly service: SigningService;
  readonly origin: string;
  readonly code: string;
  readonly journal: SigningJournal;
  readonly client: ClientInfo;
}

export interface ClientInfo {
  /** SHA-256 of the access key as hex digits. The journal records it for each call; it is never sent. */
  readonly id: string;
  readonly platform: string;
  readonly version: string;
  readonly revision: string;
  readonly hostname: string;
  readonly replaced: ReplacedExtra;
}

export function describeRequest(client: ClientInfo, path: string, size: number, time: Date): Extra | undefined {
  const { platform, version, revision, hostname, replaced } = client;
  const ours = { platform, version, revision, time: time.toISOString(), hostname, signing_filename: basename(path) };
  const { signing_filesize: bytes = String(size), ...texts } = { ...ours, ...replaced };
  const extra: Extra = {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(bytes !== '' && { signing_filesize: Number(bytes) }),
  };
  return Object.keys(extra).length === 0 ? undefined : extra;
}

export function sentFileName({ signing_filename: replaced }: ReplacedExtra, path: string): string | undefined {
  return replaced === undefined ? basename(path) : replaced || undefined;
}
