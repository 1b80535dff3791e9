/** Keeps the `limit` most recently used results, which may be promises. */
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

/** Concurrent callers share a run of `work` that begins after their calls. */
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
    // All calls in the current turn of the event loop share the next run.
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
