import type { ErrorCategory } from './codesign-error.ts';

export const EXIT_SUCCESS = 0;
/** `verify`: a signature is missing, broken, not trusted, or cannot be verified. */
export const EXIT_NOT_VERIFIED = 8;
/** Several files failed, for different reasons. */
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

/** The exit code for the categories of all failures of one run: none is success, one kind is its own code, several are 9. */
export function exitCodeFor(categories: Iterable<ErrorCategory>): number {
  return combineExitCodes([...categories].map((category) => EXIT_CODES[category]));
}

/** The exit code of several failures, each with its own. */
export function combineExitCodes(codes: Iterable<number>): number {
  const distinct = new Set(codes);
  const [only] = distinct;
  if (only === undefined) return EXIT_SUCCESS;
  return distinct.size === 1 ? only : EXIT_MIXED;
}
