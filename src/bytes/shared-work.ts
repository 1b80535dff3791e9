/** Work that serves all who wait for it: done again only for those who came after it had begun. */

/**
 * Each call resolves after a `work` that began when it had been made: a caller that comes while one is running waits for the next,
 * together with all others that come meanwhile.
 */
export function shareWork(work: () => Promise<void>): () => Promise<void> {
  let going: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    going = work();
    return going;
  }

  return () => {
    if (next !== undefined) return next;
    // Not in the same turn: all that is ready at once is served by one.
    const before = going ?? Promise.resolve();
    next = before.then(begin, begin);
    return next;
  };
}
