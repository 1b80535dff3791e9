import type { ErrorCategory } from './codesign-error.ts';

export const EXIT_SUCCESS = 0;
/** A signature is missing, broken, untrusted, or cannot be verified. */
export const EXIT_NOT_VERIFIED = 8;
export const EXIT_MIXED = 9;
export const EXIT_SIGINT = 130;
export const EXIT_SIGTERM = 143;

const EXIT_CODES: Readonly<Record<ErrorCategory, number>> = {
  internal: 1,
  usage: 2,
  network: 3,
  http: 4,
  business: 5,
  local: 6,
  timestamp: 7,
};

/** Returns 0 if there are no errors, and 9 if there are errors of several categories. */
export function exitCodeFor(categories: Iterable<ErrorCategory>): number {
  return combineExitCodes([...categories].map((category) => EXIT_CODES[category]));
}

export function combineExitCodes(codes: Iterable<number>): number {
  const distinct = new Set(codes);
  const [only] = distinct;
  if (only === undefined) return EXIT_SUCCESS;
  return distinct.size === 1 ? only : EXIT_MIXED;
}
