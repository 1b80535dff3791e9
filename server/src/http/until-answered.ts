/** Asks a database until it answers: it may be restarting. */

import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
const PAUSE = 200;

export interface Patience {
  /** When to give up, in milliseconds from now. */
  readonly patience: number;
  /** Gives up once this is aborted: the server ends. */
  readonly ending: AbortSignal;
}

/** Retries work that may be done twice, whatever its error. @returns its first result @throws its last error */
export async function untilAnswered<T>(work: () => Promise<T>, { patience, ending }: Patience): Promise<T> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (ending.aborted || performance.now() > deadline) throw error;
      await sleep(PAUSE, undefined, { signal: ending }).catch(() => {}); // an abort only ends the wait
    }
  }
}
