/** Compares byte arrays in one call. Vitest compares element by element, which takes about 2.5 ms for each 1000 bytes. */

import { expect } from 'vitest';

expect.addEqualityTesters([
  // What differs is left to Vitest, which shows where.
  (one, other) => (isBytes(one) && isBytes(other) && isSame(one, other) ? true : undefined),
]);

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Object.getPrototypeOf(one) === Object.getPrototypeOf(other) && Buffer.compare(one, other) === 0;
}
