import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { DigestedWindow } from './digest-worker.ts';
import type { PackedWindow } from './entry-windows.ts';

export type WindowOutcome = { readonly [Key in keyof DigestedWindow]: DigestedWindow[Key] | undefined };

export type DigestThreads = ReturnType<typeof createDigestThreads>;

/** A thread digests one window of the file while another window waits in its queue. */
const WINDOWS_PER_THREAD = 2;
/** The main thread cannot read enough data for more threads. Each thread takes about 20 MB. */
const MOST_THREADS = 3;
/** The threads end after this idle time, so the next archive of the run can use the threads. */
const IDLE_MILLISECONDS = 1000;

interface Thread {
  readonly worker: Worker;
  readonly waiting: ((outcome: WindowOutcome) => void)[];
  isReady: boolean;
}

/** `program` is the URL or the text of the built digest-worker.ts. */
export function createDigestThreads(program: URL | string, count = Math.min(availableParallelism() - 1, MOST_THREADS)) {
  let threads: Thread[] = [];
  let isBroken = false;
  let idle: NodeJS.Timeout | undefined;

  function startThread(): Thread {
    // Most runs start no thread.
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    // Threads get no environment variables, which may contain secrets.
    const worker = new Worker(program, { name: 'digests', env: {}, execArgv: [], eval: typeof program === 'string' });
    const thread: Thread = { worker, waiting: [], isReady: false };
    worker.unref();
    worker.once('online', () => {
      thread.isReady = true;
    });
    worker.on('message', ({ bytes, digests }: DigestedWindow) => {
      thread.waiting.shift()?.({ bytes, digests });
      if (thread.waiting.length === 0) worker.unref();
      endWhenIdle();
    });
    worker.once('error', () => {
      isBroken = true; // Out of memory or not permitted: the main thread does all the work.
    });
    worker.once('exit', () => {
      thread.isReady = false;
      threads = threads.filter((other) => other !== thread);
      for (const resolve of thread.waiting.splice(0)) resolve({ bytes: undefined, digests: undefined });
    });
    return thread;
  }

  function endWhenIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (threads.some(({ waiting }) => waiting.length > 0)) return;
      for (const { worker } of threads) void worker.terminate();
      threads = [];
    }, IDLE_MILLISECONDS).unref();
  }

  return {
    /** Threads take about 30 ms to become ready. */
    start(): void {
      if (isBroken || threads.length > 0) return;
      try {
        threads = Array.from({ length: count }, startThread);
      } catch {
        isBroken = true; // Node's permission model can forbid threads.
      }
      endWhenIdle();
    },
    /** Transfers the memory of the window to a free thread. Returns undefined if all threads are busy. */
    offer(window: PackedWindow): Promise<WindowOutcome> | undefined {
      const thread = threads.find(({ isReady, waiting }) => isReady && waiting.length < WINDOWS_PER_THREAD);
      if (thread === undefined) return undefined;
      return new Promise((resolve) => {
        thread.worker.ref();
        thread.waiting.push(resolve);
        thread.worker.postMessage(window, [window.bytes]);
      });
    },
  };
}
