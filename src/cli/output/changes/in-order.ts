import type { FileOutcome } from '../../../signing/outcome.ts';

/** Each outcome waits for those of the files before it in the input. */
export function inOrder(print: (outcome: FileOutcome) => void) {
  let paths: readonly string[] = [];
  let next = 0;
  const waiting = new Map<string, FileOutcome[]>();

  function take(path: string): FileOutcome | undefined {
    const outcomes = waiting.get(path) ?? [];
    const outcome = outcomes.shift();
    if (outcomes.length === 0) waiting.delete(path);
    return outcome;
  }

  function printNext(): boolean {
    const path = paths[next];
    const outcome = path === undefined ? undefined : take(path);
    if (outcome === undefined) return false;
    next += 1;
    print(outcome);
    return true;
  }

  function flush(): void {
    while (next < paths.length) if (!printNext()) next += 1;
    for (const outcome of [...waiting.values()].flat()) print(outcome);
    waiting.clear();
  }

  return {
    flush,
    expect(planned: readonly string[]): void {
      flush();
      [paths, next] = [planned, 0];
    },
    add(outcome: FileOutcome): void {
      waiting.set(outcome.path, [...(waiting.get(outcome.path) ?? []), outcome]);
      while (printNext());
    },
  };
}
