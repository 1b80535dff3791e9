import type { SigningContext } from '../formats/format.ts';

/** What all signatures of a run have in common: each has a time of its own. */
export type RunContext = Omit<SigningContext, 'time'>;

/** In bytes. Tokens with their certificates have 2,000 to 8,000; the same for every run, so that each prepares the same bytes. */
const TOKEN_RESERVE = 16 * 1024;

export function runContext({
  algorithm,
  timestampAlgorithm,
  chain,
  formatOptions,
}: Omit<RunContext, 'tokenReserve'>): RunContext {
  return { algorithm, timestampAlgorithm, tokenReserve: timestampAlgorithm && TOKEN_RESERVE, chain, formatOptions };
}
