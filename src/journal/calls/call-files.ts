/** The files of calls that are not over: in `calls` one for each piece of work, in `aside` those that made room for another. */

import { join } from 'node:path';
import { shareWork } from '../../bytes/shared-work.ts';
import type { Disk, Making } from '../disk.ts';
import { encodeLine } from '../lines.ts';
import type { LinesFile } from '../lines-file.ts';
import { type CallState, readCall } from './call-state.ts';
import { rememberSteps } from './remembered-steps.ts';
import type { readStep, Step } from './steps.ts';

/** Where the file of a call is. */
export interface Place {
  /** The name of the work. */
  readonly work: string;
  readonly aside: boolean;
  readonly path: string;
}

/** Whether a step must be on the disk before anything else happens; `file-and-name` for the first such step of a file. */
export type Flush = 'no' | 'file' | 'file-and-name';

export interface CallFiles {
  current(work: string): Place;
  aside(work: string, call: string): Place;
  /** Undefined when there is none. */
  read(place: Place): Promise<CallState | undefined>;
  /** Claims the place: makes its file, which must not be there, or an empty one its own. Undefined when somebody else did. */
  begin(place: Place, making: Making, step: Step): Promise<CallState | undefined>;
  /** Makes the file of a call anew that somebody has removed, with the journal perhaps: in its place where that is free. */
  restore(work: string, step: Step): Promise<void>;
  /**
   * Appends the step that `decide` makes of the state as it is, and gives the state after it. Undefined, and nothing
   * appended, when `decide` makes none, or when the place is empty or another call's by now.
   */
  append(place: Place, decide: (state: CallState) => Step | undefined, flush: Flush): Promise<CallState | undefined>;
  /** As append, to a call that is in its place or has been moved aside. */
  record(work: string, step: Step, flush: Flush): Promise<CallState | undefined>;
  moveAside(place: Place, call: string): Promise<void>;
  remove(place: Place): Promise<void>;
  /** Places of all calls, or of the calls of one work that were moved aside. */
  all(): Promise<readonly Place[]>;
  movedAside(work: string): Promise<readonly Place[]>;
}

const CALL_FILE = /^([0-9a-f]{64})\.jsonl$/;
const ASIDE_FILE = /^([0-9a-f]{64})\.[0-9a-z]+\.jsonl$/;

export interface CallFolders {
  readonly calls: string;
  readonly aside: string;
}

export function callFiles(folders: CallFolders, disk: Disk): CallFiles {
  const stepIn = rememberSteps();
  const flushCalls = shareWork(() => disk.flushFolder(folders.calls));
  const flushAside = shareWork(() => disk.flushFolder(folders.aside));
  const current = (work: string): Place => ({ work, aside: false, path: join(folders.calls, `${work}.jsonl`) });
  const aside = (work: string, call: string): Place => ({
    work,
    aside: true,
    path: join(folders.aside, `${work}.${call}.jsonl`),
  });

  async function begin(place: Place, making: Making, step: Step): Promise<CallState | undefined> {
    await using file = await disk.openLines(place.path, making);
    if (file === undefined) return undefined;
    await write(file, step, 'no', place);
    const state = await stateOf(file, place, stepIn);
    return state.id === step.call ? state : undefined;
  }

  async function append(
    place: Place,
    decide: (state: CallState) => Step | undefined,
    flush: Flush,
  ): Promise<CallState | undefined> {
    await using file = await disk.openLines(place.path, 'must-exist');
    const step = file && decide(await stateOf(file, place, stepIn));
    if (file === undefined || step === undefined) return undefined;
    await write(file, step, flush, place);
    return await stateOf(file, place, stepIn);
  }

  async function write(file: LinesFile, step: Step, flush: Flush, place: Place): Promise<void> {
    await file.append([encodeLine(step)]);
    if (flush !== 'no') await file.flush();
    if (flush === 'file-and-name') await (place.aside ? flushAside() : flushCalls());
  }

  return {
    current,
    aside,
    read: (place) => readPlace(disk, place),
    append,
    begin,
    async restore(work, step) {
      for (const path of [folders.calls, folders.aside]) await disk.makeFolder(path);
      for (const place of [current(work), aside(work, step.call)]) {
        if (await begin(place, 'must-not-exist', step)) return;
      }
    },
    async record(work, step, flush) {
      const decide = (state: CallState) => (state.id === step.call ? step : undefined);
      const state = await append(current(work), decide, flush);
      if (state !== undefined) return state;
      return await append(aside(work, step.call), decide, flush);
    },
    moveAside: (place, call) => disk.moveFile(place.path, aside(place.work, call).path),
    remove: ({ path }) => disk.removeFile(path),
    all: async () => [...(await placesIn(disk, folders.calls, false)), ...(await placesIn(disk, folders.aside, true))],
    movedAside: (work) => placesIn(disk, folders.aside, true, work),
  };
}

async function readPlace(disk: Disk, { path, aside }: Place): Promise<CallState | undefined> {
  const lines = await disk.readLines(path);
  return lines && readCall(lines, aside);
}

/** What is not named as the journal names its files is not the journal's. */
async function placesIn(disk: Disk, folder: string, aside: boolean, only?: string): Promise<Place[]> {
  const pattern = aside ? ASIDE_FILE : CALL_FILE;
  return (await disk.namesIn(folder)).flatMap((name) => {
    const work = pattern.exec(name)?.[1];
    return work === undefined || work !== (only ?? work) ? [] : [{ work, aside, path: join(folder, name) }];
  });
}

async function stateOf(file: LinesFile, place: Place, stepIn: typeof readStep): Promise<CallState> {
  return readCall(await file.read(), place.aside, stepIn);
}
