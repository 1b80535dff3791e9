/** Whether somebody is still at a call: by this process's own knowledge, by what the system says, or by how long nothing happened. */

import type { HolderOnRecord } from './calls/steps.ts';
import type { Processes } from './processes.ts';

/**
 * Of a process that cannot be seen from here (another host, another container) it is presumed after this time without a
 * step that it has ended. A call takes half of it at most: its attempts, and the waits that the service asks for.
 */
export const PRESUMED_ENDED_MILLISECONDS = 15 * 60 * 1000;

export interface LastSign {
  /** When something was last recorded, as ISO 8601. */
  readonly at: string;
  /** How long this process has watched that nothing is, in milliseconds: clocks of two hosts may differ. */
  readonly watched: number;
}

export interface Liveness {
  readonly self: HolderOnRecord;
  /** What this opening of the journal is at: claims, shares and closings, by their ids. */
  readonly held: Set<string>;
  isHeld(holder: HolderOnRecord | undefined, id: string, last: LastSign): Promise<boolean>;
}

export function observeLiveness(processes: Processes, run: string, now: () => Date): Liveness {
  const self: HolderOnRecord = { ...processes.self, run };
  const held = new Set<string>();
  return {
    self,
    held,
    async isHeld(holder, id, { at, watched }) {
      if (holder === undefined) return false;
      const running = await processes.isRunning(holder);
      if (running === false) return false;
      if (holder.run === run) return held.has(id);
      // Another opening of the journal by this very process may have been left without a word.
      const certain = running === true && !(holder.pid === self.pid && holder.space === self.space);
      return certain || !isLongAgo(at, watched);
    },
  };

  function isLongAgo(at: string, watched: number): boolean {
    return watched > PRESUMED_ENDED_MILLISECONDS || now().getTime() - Date.parse(at) > PRESUMED_ENDED_MILLISECONDS;
  }
}

/** Whom somebody waits for, in words. */
export function inWords({ host, pid }: HolderOnRecord, self: HolderOnRecord): string {
  return host === self.host ? `process ${pid}` : `process ${pid} on ${host}`;
}
