import type { Readable } from 'node:stream';
import type { TimestampingSettings } from '../options/commands/timestamp.ts';
import type { Environment } from '../options/options.ts';
import { changeFiles, type LocalChange } from '../signing/change-files.ts';
import { attachSignature, readSignatureFile } from '../signing/changes/attach.ts';
import { removeSignatures } from '../signing/changes/remove.ts';
import { addTimestamps } from '../signing/changes/timestamp.ts';
import type { ChangeEvent, FileToSign } from '../signing/outcome.ts';
import { composeHttp, composeTimestamps, readTimestampRoots } from './compose-connection.ts';
import { composeRun } from './compose-local.ts';

type OnEvent = (event: ChangeEvent) => void;

/** Files under way concurrently where none of them waits for an answer. */
const LOCAL_CONCURRENCY = 4;

/** Throws what makes every request impossible: roots that cannot be read, TLS checks switched off. */
export async function composeTimestamping(settings: TimestampingSettings, env: Environment, onEvent: OnEvent) {
  const { concurrency, force } = settings;
  const http = await composeHttp(settings, env, concurrency);
  const authorities = composeTimestamps(settings, http, await readTimestampRoots(settings.timestamps), onEvent);
  if (authorities === undefined) throw new Error('settings for timestamping have an authority');
  const change = addTimestamps({ authorities, algorithm: settings.timestamps.algorithm, force, now: () => new Date() });
  return compose(change, concurrency, onEvent, () => http.close());
}

export async function composeRemoving(onEvent: OnEvent) {
  return compose(removeSignatures, LOCAL_CONCURRENCY, onEvent);
}

/** Reads the signature that `open` opens; throws `signature-file-unreadable`, `-too-large`, `-unusable`. */
export async function composeAttaching(open: () => Promise<Readable>, name: string, onEvent: OnEvent) {
  return compose(attachSignature(await readSignatureFile(open, name)), LOCAL_CONCURRENCY, onEvent);
}

async function compose(
  change: LocalChange,
  concurrency: number,
  onEvent: OnEvent,
  close: () => Promise<void> = async () => undefined,
) {
  const { run, removeTemporaryFiles } = await composeRun(concurrency, onEvent);
  return {
    changeFiles: (files: readonly FileToSign[], signal?: AbortSignal) => changeFiles(files, change, run, signal),
    removeTemporaryFiles,
    [Symbol.asyncDispose]: close,
  };
}
