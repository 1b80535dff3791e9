import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnRead } from '../../bytes/byte-source.ts';
import type { localDisks } from '../../bytes/file-source.ts';
import { sha256Of } from '../../crypto/measure-content.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { type FileStats, type InputFile, isUnchanged, openInput } from '../../files/input-file.ts';
import type { SignableFile } from '../../format/signable-file.ts';
import { signingErrors } from '../errors.ts';
import type { BytesRead } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { StartedRun, StopSignal } from '../run.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';
import { assertNoLinkTo } from './target.ts';

export interface OpenFile extends AsyncDisposable {
  readonly input: InputFile;
  /** The input file, opened by the code of its format. undefined if the file is not in memory. */
  readonly opened: SignableFile | undefined;
  readonly copy: StagedCopy;
  readonly started: number;
  /** The run waits until this file is finished, even if the run is stopped. */
  finishAnyway(): void;
}

/** Creates the temporary copy. Disposing of this object closes both files and removes a copy that was not committed. */
export async function openFile(
  plan: PlannedFile,
  { disk, digestEntries, clock, onEvent, stop }: StartedRun,
): Promise<OpenFile> {
  const { path, stats, target, folderIdentity, isLocal } = plan;
  onEvent({ type: 'file-started', path });
  const started = clock();
  let throwIfStopped = stop.throwIfStopped;
  const kept = plan.takeKept();
  const input = kept?.input ?? (await openPlanned(plan, { onEvent, stop: { throwIfStopped: () => throwIfStopped() } }));
  let copy: StagedCopy | undefined;
  const close = async (): Promise<void> => {
    await copy?.[Symbol.asyncDispose]();
    await input.close();
  };
  try {
    if (kept !== undefined) await assertSameVersion(path, stats);
    const hasFolder = assertNoLinkTo(target, folderIdentity);
    copy = await stageCopy({
      ...disk,
      digestEntries,
      source: input.source,
      stats,
      target,
      hasFolder,
      isLocal,
      onEvent,
    });
    assertNoLinkTo(target, folderIdentity);
    const finishAnyway = (): void => {
      throwIfStopped = () => undefined;
    };
    return { input, opened: kept?.opened, copy, started, finishAnyway, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** If the run is stopped while a large file is being read, reading ends with the error `not-attempted`. */
interface Reading {
  readonly isOnLocalDisk?: ReturnType<typeof localDisks>;
  readonly onEvent: (event: BytesRead) => void;
  readonly stop: Pick<StopSignal, 'throwIfStopped'>;
}

export async function openPlanned(plan: PlannedFile, run: Reading): Promise<InputFile> {
  const input = await openInput(plan.path, onBytesRead(plan.path, run));
  if (isUnchanged(plan.stats, input.stats)) return input;
  await input.close();
  throw signingErrors('file-changed');
}

export async function sha256OfPlanned(plan: PlannedFile, run: Reading): Promise<string> {
  await using input = await openPlanned(plan, run);
  return await inFileSystem('read the file', () => sha256Of(input.source));
}

function onBytesRead(path: string, { onEvent, stop }: Reading): OnRead {
  return (bytes, size) => {
    stop.throwIfStopped();
    onEvent({ type: 'bytes-read', path, bytes, size });
  };
}

export interface Waiting {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/**
 * Two writes within one tick of the file system's clock get the same time. If the last write was recent, waits until a
 * further write would get a later time, and then checks again.
 */
export async function openSettled(
  path: string,
  run: Reading,
  waiting: Waiting = { now: () => Date.now(), sleep },
): Promise<InputFile> {
  const input = await openInput(path, onBytesRead(path, run), run.isOnLocalDisk);
  try {
    const tick = tickOf(input.stats);
    if (waiting.now() - lastChange(input.stats) < tick) {
      await waiting.sleep(tick);
      await assertSameVersion(path, input.stats);
    }
    return input;
  } catch (thrown) {
    await input.close();
    throw thrown;
  }
}

async function assertSameVersion(path: string, stats: FileStats): Promise<void> {
  const now = await inFileSystem('look at the file again', async () => statSync(path, { bigint: true }));
  if (!isUnchanged(stats, now)) throw signingErrors('file-changed');
}

const SECOND = 1_000_000_000n;

/**
 * Returns the number of milliseconds after which a further write gets a later time. On FAT, times have a resolution of
 * two seconds.
 */
function tickOf({ mtimeNs, ctimeNs }: FileStats): number {
  return mtimeNs % SECOND === 0n && ctimeNs % SECOND === 0n ? 2000 : 10;
}

/** Milliseconds since 1970. Programs can set the modification time to an earlier value, but not the change time. */
function lastChange({ mtimeNs, ctimeNs }: FileStats): number {
  return Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
}
