/** A fault that a deployment may have: what it does otherwise, and the rules that this breaks, those and no other. */

import { type Behaviour, goodBehaviour, type Keeper } from './behaviour.ts';
import type { FakeOptions } from './fake-deployment.ts';

export interface Fault extends FakeOptions {
  readonly name: string;
  /** Titles of the rules that it breaks, or what these and no others have in common. */
  readonly breaks: readonly (string | RegExp)[];
}

export function fault(
  name: string,
  change: (good: Behaviour, keeper: Keeper) => Partial<Behaviour>,
  breaks: readonly (string | RegExp)[],
): Fault {
  return { name, change: (keeper) => change(goodBehaviour(keeper), keeper), breaks };
}

/** What a text gives, for checks that take nothing else. */
export function ofText<T>(read: (text: string) => T | undefined): (value: unknown) => T | undefined {
  return (value) => (typeof value === 'string' ? read(value) : undefined);
}
