/**
 * The oldest answers are dropped first. An answer that is a promise is kept as such. `isWorthKeeping` is asked after the
 * answer was computed, or for a promise, begun.
 */
export function memoize<Input, Output>(
  limit: number,
  keyOf: (input: Input) => string,
  compute: (input: Input) => Output,
  isWorthKeeping: (input: Input) => boolean = () => true,
): (input: Input) => Output {
  const known = new Map<string, { readonly output: Output }>();
  return (input) => {
    const key = keyOf(input);
    const earlier = known.get(key);
    const found = earlier ?? { output: compute(input) };
    if (earlier === undefined && !isWorthKeeping(input)) return found.output;
    known.delete(key);
    known.set(key, found);
    if (known.size > limit) known.delete(known.keys().next().value ?? key);
    return found.output;
  };
}

/**
 * Each call resolves after a `work` that began when it had been made: a caller that comes while one is running waits for the next,
 * together with all others that come meanwhile.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
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

export function lazy<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined;
  return () => {
    done ??= { value: work() };
    return done.value;
  };
}
