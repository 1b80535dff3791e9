/**
 * Each session runs one operation at a time. The caller must limit the amount of concurrent work.
 * @param discard closes a session after a failure, because the operation may be incomplete
 */
export function createSessionPool<Session>(open: () => Session, discard: (session: Session) => void) {
  const idle: Session[] = [];
  const drained: (() => void)[] = [];
  let busy = 0;

  return {
    async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
      busy += 1;
      try {
        const session = idle.pop() ?? open();
        try {
          const result = await work(session);
          idle.push(session);
          return result;
        } catch (error) {
          discard(session);
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
    /** Resolves when no work is running. The caller must not start more work. */
    async drain(): Promise<void> {
      if (busy > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
