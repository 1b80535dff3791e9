/** Waits for other processes' calls, and remembers for how long nothing happened to one. */

import { journalErrors } from '../errors.ts';
import type { ClaimOptions } from '../journal.ts';
import { inWords } from '../liveness.ts';
import type { JournalParts } from '../parts.ts';
import type { CallState } from './call-state.ts';

const FIRST_WAIT_MILLISECONDS = 50;
const LONGEST_WAIT_MILLISECONDS = 500;

export function watchCall({ uptime, waiting, liveness }: JournalParts, name: string, { signal, onWait }: ClaimOptions) {
  const waitedFor = new Set<string>();
  let told = false;
  let pause = FIRST_WAIT_MILLISECONDS;
  let seen = { id: '', lines: 0, since: 0 };
  return {
    waitedFor,
    /** Milliseconds. */
    look({ id = '', lines }: CallState): number {
      if (seen.id !== id || seen.lines !== lines) seen = { id, lines, since: uptime() };
      return uptime() - seen.since;
    },
    async wait(state: CallState): Promise<void> {
      const holder = state.closing?.holder ?? state.holder;
      const isOther = holder !== undefined && holder.run !== liveness.self.run;
      const whom = isOther ? inWords(holder, liveness.self) : 'another file of this run';
      if (state.id !== undefined) waitedFor.add(state.id);
      if (isOther && !told) {
        told = true;
        onWait?.(whom);
      }
      await waiting.wait(name, pause, signal);
      if (signal?.aborted) throw journalErrors('claim-interrupted', { whom });
      pause = Math.min(pause * 1.5, LONGEST_WAIT_MILLISECONDS);
    },
  };
}
