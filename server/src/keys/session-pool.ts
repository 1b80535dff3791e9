/** Each session runs one operation at a time, and is replaced after a failure. */

export interface SessionSource<Session> {
  open(): Session;
  /** Closes a session after a failure. It must not throw if the session is already closed. */
  discard(session: Session): void;
}

/**
 * The caller must limit the amount of concurrent work. A session is closed after a failure, because its operation may
 * be incomplete.
 */
export function createSessionPool<Session>(source: SessionSource<Session>) {
  const idle: Session[] = [];
  const drained: (() => void)[] = [];
  let busy = 0;

  return {
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
    /** Removes the idle sessions without closing them, because the HSM has already lost them. */
    forget(): void {
      idle.length = 0;
    },
    /** Resolves when no work is running. The caller must start no work after calling this function. */
    async drain(): Promise<void> {
      if (busy > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
