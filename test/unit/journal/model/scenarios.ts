/** Who takes part, and what may go wrong: small enough that each is explored to its end. */

import type { Budget, Player } from './world.ts';

export interface Scenario {
  readonly name: string;
  readonly players: readonly Player[];
  readonly budget: Partial<Budget>;
}

const A: Player = { files: [['a', 1]] };
/** Equal content. */
const B: Player = { files: [['b', 1]] };
const BOTH: Player = { files: [A, B].flatMap(({ files = [] }) => files) };
const C: Player = { files: [['c', 1]] };
const RESUME: Player = { kind: 'resume' };
/** As of a certificate that does not belong to the number. */
const WRONG: Player = { ...A, certificate: 'B' };

export const SCENARIOS: readonly Scenario[] = [
  { name: 'one is killed', players: [A, B], budget: { kill: 1 } },
  { name: 'a wrong certificate', players: [WRONG, B], budget: { kill: 1, reportFails: 1 } },
];

/** What takes minutes. */
export const WIDE: readonly Scenario[] = [
  { name: 'one is presumed gone, and one refused', players: [A, B], budget: { presume: 1, refused: 1 } },
  { name: 'one is repeated and killed', players: [A, B], budget: { kill: 1, repeat: 1 } },
  { name: 'one is interrupted, and throttled', players: [A, B], budget: { interrupt: 1, throttled: 1 } },
  { name: 'the same file, and a run that follows', players: [A, { ...A, lives: 2 }], budget: { kill: 1 } },
  { name: 'a repetition, throttled', players: [A, A], budget: { kill: 1, repeat: 1, throttled: 1 } },
  { name: 'a repetition, refused', players: [A, A], budget: { interrupt: 1, repeat: 1, refused: 1 } },
  { name: 'presumed gone, and no answer', players: [A, { ...B, lives: 2 }], budget: { presume: 1, none: 1 } },
  { name: 'both presumed gone', players: [A, A], budget: { presume: 2 } },
  { name: 'an unusable answer', players: [A, B], budget: { unusable: 1, presume: 1, forget: 1 } },
  { name: 'resume after a kill', players: [A, RESUME], budget: { kill: 1, none: 1, writeFails: 1, reportFails: 1 } },
  { name: 'resume next to a run', players: [A, RESUME], budget: { presume: 1, writeFails: 1, reportFails: 1 } },
  { name: 'forget', players: [A, B], budget: { presume: 1, none: 1, forget: 1, writeFails: 1 } },
  { name: 'two files of one run', players: [BOTH, B], budget: { kill: 1 } },
  { name: 'three processes', players: [A, B, C], budget: { kill: 1 } },
];
