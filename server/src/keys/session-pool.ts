/** A bounded pool of HSM sessions: each carries one operation at a time, and one that failed is replaced. */

export interface SessionPool<Session> {
  /** Runs `work` with a session of its own, waiting for one where all are busy. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Resolves when no work is under way. It is the caller's to bring no more from then on. */
  drain(): Promise<void>;
  /** Drops the idle sessions without closing them: they are known to be gone. */
  forget(): void;
}

export interface SessionSource<Session> {
  open(): Session;
  /** Closes a session after a failure; must not throw if the session is already closed. */
  discard(session: Session): void;
}

/**
 * Sessions are opened when first needed, at most `size` of them.
 * A session whose work failed may hold a half-done operation, so it is closed, and the next work opens a new one.
 */
export function createSessionPool<Session>(source: SessionSource<Session>, size: number): SessionPool<Session> {
  const idle: Session[] = [];
  const waiting: (() => void)[] = [];
  const drained: (() => void)[] = [];
  let busy = 0;

  const acquire = async (): Promise<void> => {
    if (busy < size) busy += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // the place is handed over, busy stays
  };
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
    if (busy === 0) for (const resolve of drained.splice(0)) resolve();
  };

  return {
    async use(work) {
      await acquire();
      try {
        const session = idle.pop() ?? source.open();
        try {
          const result = await work(session);
          idle.push(session);
          return result;
        } catch (error) {
          source.discard(session);
          throw error;
        }
      } finally {
        release();
      }
    },
    forget() {
      idle.length = 0;
    },
    async drain() {
      if (busy > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
