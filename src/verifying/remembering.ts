/** A function whose last answers are kept, so that thousands of files by one signer cost as much as one. */

/** The oldest answers are dropped first. An answer that is a promise is kept as such. */
export function remembering<Input, Output>(
  limit: number,
  keyOf: (input: Input) => string,
  compute: (input: Input) => Output,
): (input: Input) => Output {
  const known = new Map<string, { readonly output: Output }>();
  return (input) => {
    const key = keyOf(input);
    const found = known.get(key) ?? { output: compute(input) };
    known.delete(key);
    known.set(key, found);
    if (known.size > limit) known.delete(known.keys().next().value ?? key);
    return found.output;
  };
}
