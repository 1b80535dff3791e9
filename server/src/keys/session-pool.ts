/** Sessions of the HSM: each carries one operation at a time, and one that failed is replaced. */

export interface SessionSource<Session> {
  open(): Session;
  /** Closes a session after a failure; must not throw if the session is already closed. */
  discard(session: Session): void;
}

/**
 * Sessions are opened when first needed. The caller limits how much work is under way.
 * A session whose work failed may hold a half-done operation, so it is closed, and the next work opens a new one.
 */
export function createSessionPool<Session>(source: SessionSource<Session>) {
  const idle: Session[] = [];
  const drained: (() => void)[] = [];
  let busy = 0;

  return {
    /** Runs `work` with a session of its own. */
    async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
      busy += 1;
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
        busy -= 1;
        if (busy === 0) for (const resolve of drained.splice(0)) resolve();
      }
    },
    /** Drops the idle sessions without closing them: they are known to be gone. */
    forget(): void {
      idle.length = 0;
    },
    /** Resolves when no work is under way. It is the caller's to bring no more from then on. */
    async drain(): Promise<void> {
      if (busy > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
