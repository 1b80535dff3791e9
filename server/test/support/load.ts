/** Callers that ask a server one thing after the other over kept connections, and what they counted. */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Ask {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export type Load = Awaited<ReturnType<typeof startLoad>>;

/** Starts so many callers, each with a connection of its own; resolves when each of them was answered. */
export async function startLoad(server: { readonly port: number; readonly ca: Buffer }, callers: number, ask: Ask) {
  const worker = new Worker(new URL('load-worker.mjs', import.meta.url), { workerData: { server, callers, ask } });
  await once(worker, 'message');
  /** How many answers had each HTTP status; 0: none came. */
  const answers = async (message: 'count' | 'stop'): Promise<ReadonlyMap<number, number>> => {
    const answered = once(worker, 'message');
    worker.postMessage(message);
    const [counts] = await answered;
    return counts;
  };
  /** `stop` ends the callers, each after its answer. */
  return { answers: () => answers('count'), stop: () => answers('stop') };
}
