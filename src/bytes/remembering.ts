/** A function that keeps its latest results. */

/**
 * The oldest answers are dropped first. An answer that is a promise is kept as such. `isWorthKeeping` is asked after the
 * answer was computed, or for a promise, begun.
 */
export function remembering<Input, Output>(
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
