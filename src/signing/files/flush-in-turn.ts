/** Flushes of one file, one after the other, and none after one that failed. */

export interface Flushes {
  /** Rejects with what this flush, or an earlier one, failed of. */
  flush(): Promise<void>;
  /** Throws what a flush has failed of so far. */
  assertNoneFailed(): void;
}

/**
 * The system tells a failed write-back once, to whichever flush is under way, and forgets it: of two at once the other would
 * pass for a good one, and so would any later one.
 */
export function flushInTurn(sync: () => Promise<void>): Flushes {
  let last: Promise<void> = Promise.resolve();
  let fault: { readonly thrown: unknown } | undefined;
  return {
    flush() {
      last = last.then(sync);
      last.catch((thrown: unknown) => {
        fault ??= { thrown };
      });
      return last;
    },
    assertNoneFailed() {
      if (fault) throw fault.thrown;
    },
  };
}
