/** A fault of a fake deployment, and exactly the rules that it breaks. */

import { type Behaviour, goodBehaviour, type Keeper } from './behaviour.ts';
import type { FakeOptions } from './fake-deployment.ts';

export interface Fault extends FakeOptions {
  readonly name: string;
  /** Titles of the rules that it breaks, or patterns that match exactly these titles. */
  readonly breaks: readonly (string | RegExp)[];
}

export function fault(
  name: string,
  change: (good: Behaviour, keeper: Keeper) => Partial<Behaviour>,
  breaks: readonly (string | RegExp)[],
): Fault {
  return { name, change: (keeper) => change(goodBehaviour(keeper), keeper), breaks };
}
