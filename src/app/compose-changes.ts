/** Where the changes to signed files are wired that need no signing service. */

import type { Readable } from 'node:stream';
import { formats } from '../formats/registry.ts';
import type { TimestampingSettings } from '../options/commands/timestamp.ts';
import type { Environment } from '../options/options.ts';
import type { Change, Changing } from '../signing/change.ts';
import { changeFiles } from '../signing/change-files.ts';
import type { ChangeEvent, ChangeFilesResult } from '../signing/change-outcome.ts';
import { attachSignature } from '../signing/changes/attach.ts';
import { removeSignatures } from '../signing/changes/remove.ts';
import { readSignatureFile } from '../signing/changes/signature-file.ts';
import { addTimestamps } from '../signing/changes/timestamp.ts';
import type { FileToSign } from '../signing/outcome.ts';
import { clock } from './clock.ts';
import { composeDigestEntries } from './compose-digests.ts';
import { composeHttp } from './compose-http.ts';
import { composeTemporaryFiles, removeNow } from './compose-temporary-files.ts';
import { composeTimestamps, readTimestampRoots } from './compose-timestamps.ts';

export interface ChangeComposition extends AsyncDisposable {
  changeFiles(files: readonly FileToSign[], signal?: AbortSignal): Promise<ChangeFilesResult>;
  /** At once, for a process that is about to end with files under way. */
  removeTemporaryFiles(): void;
}

type OnEvent = (event: ChangeEvent) => void;

/** Files under way at once where none of them waits for an answer. */
const LOCAL_CONCURRENCY = 4;

/** Throws what makes every request impossible: roots that cannot be read, TLS checks switched off. */
export async function composeTimestamping(
  settings: TimestampingSettings,
  env: Environment,
  onEvent: OnEvent,
): Promise<ChangeComposition> {
  const { concurrency, force } = settings;
  const http = await composeHttp(settings, env, concurrency);
  const authorities = composeTimestamps(settings, http, await readTimestampRoots(settings.timestamps));
  if (authorities === undefined) throw new Error('settings for timestamping have an authority');
  const change = addTimestamps({ authorities, force, now: () => new Date() });
  return compose(change, concurrency, onEvent, () => http.close());
}

export async function composeRemoving(onEvent: OnEvent): Promise<ChangeComposition> {
  return compose(removeSignatures, LOCAL_CONCURRENCY, onEvent);
}

/** Reads the signature that `open` opens; throws `signature-file-unreadable`, `-too-large`, `-unusable`. */
export async function composeAttaching(
  open: () => Promise<Readable>,
  name: string,
  onEvent: OnEvent,
): Promise<ChangeComposition> {
  return compose(attachSignature(await readSignatureFile(open, name)), LOCAL_CONCURRENCY, onEvent);
}

async function compose(
  change: Change,
  concurrency: number,
  onEvent: OnEvent,
  close: () => Promise<void> = async () => undefined,
): Promise<ChangeComposition> {
  const temporaryFiles = new Set<string>();
  const changing: Changing = {
    change,
    concurrency,
    formats,
    digestEntries: composeDigestEntries(),
    clock,
    ...(await composeTemporaryFiles()),
    temporaryFiles,
    onEvent,
  };
  return {
    changeFiles: (files, signal) => changeFiles(files, changing, signal),
    removeTemporaryFiles: () => removeNow(temporaryFiles),
    [Symbol.asyncDispose]: close,
  };
}
