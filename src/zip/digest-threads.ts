import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { DigestedWindow } from './digest-worker.ts';
import type { PackedWindow } from './entry-windows.ts';

/** What became of a window; no memory where its thread died with it. */
export type WindowOutcome = { readonly [Key in keyof DigestedWindow]: DigestedWindow[Key] | undefined };

export type DigestThreads = ReturnType<typeof createDigestThreads>;

/** A thread has one window at hand and one that waits, so that it never waits for the main thread. */
const WINDOWS_PER_THREAD = 2;
/** Each takes some 20 MB; the main thread could not feed more. */
const MOST_THREADS = 3;
/** Idle threads are kept for this long, for the next archive of a batch. Milliseconds. */
const LINGER = 1000;

interface Thread {
  readonly worker: Worker;
  readonly waiting: ((outcome: WindowOutcome) => void)[];
  isReady: boolean;
}

/** @param program what the threads run: digest-worker.ts as it was built */
export function createDigestThreads(program: URL, count = Math.min(availableParallelism() - 1, MOST_THREADS)) {
  let threads: Thread[] = [];
  let isBroken = false;
  let idle: NodeJS.Timeout | undefined;

  function startThread(): Thread {
    // Loaded here: most runs start none.
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    // Without the environment, which may hold secrets, and which it has no use for.
    const worker = new Worker(program, { name: 'digests', env: {}, execArgv: [] });
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
      isBroken = true; // out of memory, or not permitted: the main thread does it all
    });
    worker.once('exit', () => {
      thread.isReady = false;
      threads = threads.filter((other) => other !== thread);
      for (const tell of thread.waiting.splice(0)) tell({ bytes: undefined, digests: undefined });
    });
    return thread;
  }

  function endWhenIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (threads.some(({ waiting }) => waiting.length > 0)) return;
      for (const { worker } of threads) void worker.terminate();
      threads = [];
    }, LINGER).unref();
  }

  return {
    /** Starts the threads, unless they run: they are of use some 30 ms later. */
    start(): void {
      if (isBroken || threads.length > 0) return;
      try {
        threads = Array.from({ length: count }, startThread);
      } catch {
        isBroken = true; // Node's permission model may forbid threads
      }
      endWhenIdle();
    },
    /** Hands a window, with its memory, to a thread that has little to do; undefined if all have enough. */
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
