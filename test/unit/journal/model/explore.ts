/** Breadth-first: every state once, so that the first broken promise is shown with the shortest way to it. */

import { createHash } from 'node:crypto';

export interface Model {
  /** A state as text that can be continued, and what of it counts. */
  readonly start: State;
  /** All states that may follow, by the names of the steps. Throws when a promise is broken. */
  next(state: string): Iterable<readonly [step: string, after: () => State]>;
}

export interface State {
  readonly text: string;
  readonly essence: string;
}

export class BrokenPromise extends Error {}

/** Throws `BrokenPromise` with the steps that lead to it. */
export function explore({ start, next }: Model, most = Number.POSITIVE_INFINITY) {
  const seen = new Set<string>([nameOf(start)]);
  const parents: number[] = [-1];
  const steps: string[] = ['start'];
  let edge: (readonly [number, string])[] = [[0, start.text]];
  while (edge.length > 0) {
    const further: (readonly [number, string])[] = [];
    for (const [index, text] of edge) {
      let step = 'look';
      try {
        for (const [name, after] of next(text)) {
          step = name;
          const state = after();
          const found = nameOf(state);
          if (seen.has(found)) continue;
          seen.add(found);
          parents.push(index);
          steps.push(name);
          further.push([steps.length - 1, state.text]);
        }
      } catch (thrown) {
        if (!(thrown instanceof BrokenPromise)) throw thrown;
        throw new BrokenPromise(`${thrown.message}\n${[...wayTo(index), step].join('\n')}`);
      }
      if (steps.length > most) return { states: steps.length, isComplete: false };
    }
    edge = further;
  }
  return { states: steps.length, isComplete: true };

  function wayTo(index: number): string[] {
    const way: string[] = [];
    for (let at = index; at >= 0; at = parents[at] ?? -1) way.unshift(steps[at] ?? '');
    return way;
  }
}

function nameOf({ essence }: State): string {
  return createHash('sha1').update(essence).digest('base64').slice(0, 20);
}
