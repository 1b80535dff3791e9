import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shareWork } from '../../bytes/reuse.ts';
import type { Disk, Making } from '../disk.ts';
import { encodeLine } from '../lines.ts';
import { type CallState, readCall } from './call-state.ts';
import { readStep, type Step } from './steps.ts';

/** Where the file of a call is. */
export interface CallLocation {
  /** The name of the work. */
  readonly work: string;
  /** Id of the call, if it was moved aside. */
  readonly aside: string | undefined;
  readonly path: string;
}

/** Whether a step must be on the disk before anything else happens; `file-and-name` for the first such step of a file. */
export type Flush = 'no' | 'file' | 'file-and-name';

export type CallFiles = ReturnType<typeof callFiles>;

/** Of a call that is not aside; the name of the work is in it. */
export const CALL_FILE = /^([0-9a-f]{64})\.jsonl$/;
const ASIDE_FILE = /^([0-9a-f]{64})\.([0-9a-z]+)\.jsonl$/;
/** Another process may have created a file, and be about to write its first line. */
const FIRST_LINE_MILLISECONDS = 50;

export function callFiles(folders: { readonly calls: string; readonly aside: string }, disk: Disk) {
  const stepIn = rememberedSteps();
  const flushCalls = shareWork(() => disk.flushFolder(folders.calls));
  const flushAside = shareWork(() => disk.flushFolder(folders.aside));
  const current = (work: string): CallLocation => ({
    work,
    aside: undefined,
    path: join(folders.calls, `${work}.jsonl`),
  });
  const aside = (work: string, call: string): CallLocation => ({
    work,
    aside: call,
    path: join(folders.aside, `${work}.${call}.jsonl`),
  });

  /** Claims the work: creates the file, or takes over one that has no call. Returns undefined if another process was first. */
  async function begin(location: CallLocation, making: Making, step: Step): Promise<CallState | undefined> {
    await using file = await disk.openLines(location.path, making);
    if (file === undefined) return undefined;
    try {
      file.append([encodeLine(step)]);
    } catch (thrown) {
      // An empty file would count as damaged.
      if (making === 'must-not-exist') await disk.removeFile(location.path).catch(() => undefined);
      throw thrown;
    }
    const state = readCall(file.read(), location.aside, stepIn);
    return state.id === step.call ? state : undefined;
  }

  /**
   * Appends the step that `decide` derives from the current state, and returns the state after it. Returns undefined, and
   * appends nothing, if `decide` returns none, or if the file is gone.
   */
  async function append(
    location: CallLocation,
    decide: (state: CallState) => Step | undefined,
    flush: Flush,
  ): Promise<CallState | undefined> {
    await using file = await disk.openLines(location.path, 'must-exist');
    const step = file && decide(readCall(file.read(), location.aside, stepIn));
    if (file === undefined || step === undefined) return undefined;
    file.append([encodeLine(step)]);
    if (flush !== 'no') await file.flush();
    if (flush === 'file-and-name') await (location.aside ? flushAside() : flushCalls());
    const after = readCall(file.read(), location.aside, stepIn);
    return after;
  }

  async function readNow({ path, aside }: CallLocation): Promise<CallState | undefined> {
    const lines = await disk.readLines(path);
    const state = lines && readCall(lines, aside, stepIn);
    return state;
  }

  return {
    current,
    aside,
    begin,
    append,
    /** Undefined if there is no file. */
    async read(location: CallLocation): Promise<CallState | undefined> {
      const state = await readNow(location);
      if (state === undefined || state.id !== undefined) return state;
      await sleep(FIRST_LINE_MILLISECONDS);
      return await readNow(location);
    },
    /** Creates the file of a call again after it was removed, perhaps with the whole journal. */
    async restore(work: string, step: Step): Promise<void> {
      for (const path of [folders.calls, folders.aside]) await disk.makeFolder(path);
      for (const location of [current(work), aside(work, step.call)]) {
        if (await begin(location, 'must-not-exist', step)) return;
      }
    },
    /** Appends a step to its call, whether that has been moved aside or not. */
    async record(work: string, step: Step, flush: Flush): Promise<CallState | undefined> {
      const decide = (state: CallState) => (state.id === step.call ? step : undefined);
      const state = await append(current(work), decide, flush);
      if (state !== undefined) return state;
      return await append(aside(work, step.call), decide, flush);
    },
    moveAside: ({ path, work }: CallLocation, call: string) => disk.moveFile(path, aside(work, call).path),
    remove: ({ path }: CallLocation) => disk.removeFile(path),
    all: async () =>
      (await locationsIn(disk, folders.calls, false)).concat(await locationsIn(disk, folders.aside, true)),
    movedAside: (work: string) => locationsIn(disk, folders.aside, true, work),
  };
}

/** Of the calls of several files at once, each with ten or so. */
const MOST_LINES_REMEMBERED = 256;

/** As `readStep`: the file of a call is read twice at each step, and only its last line is new. */
function rememberedSteps(): typeof readStep {
  const known = new Map<string, Step | undefined>();
  return (line) => {
    if (known.has(line)) return known.get(line);
    if (known.size === MOST_LINES_REMEMBERED) known.clear();
    const step = readStep(line);
    known.set(line, step);
    return step;
  };
}

/** Ignores files that are not named like those of the journal. `only`: of this work. */
async function locationsIn(disk: Disk, folder: string, isAside: boolean, only?: string): Promise<CallLocation[]> {
  const pattern = isAside ? ASIDE_FILE : CALL_FILE;
  return (await disk.namesIn(folder)).flatMap((name) => {
    const [, work, call] = pattern.exec(name) ?? [];
    return work === undefined || work !== (only ?? work) ? [] : [{ work, aside: call, path: join(folder, name) }];
  });
}
