/** What formats are given of a run's options. */

import type { SigningContext } from '../formats/format.ts';
import type { Signing } from './signing.ts';

/** In bytes. Tokens with their certificates have 2,000 to 8,000; the same for every run, so that each prepares the same bytes. */
const TOKEN_RESERVE = 16 * 1024;

export function contextOf(signing: Signing): SigningContext {
  const { algorithm, timestampAlgorithm, chain, formatOptions, now } = signing;
  return {
    algorithm,
    timestampAlgorithm,
    tokenReserve: timestampAlgorithm && TOKEN_RESERVE,
    chain,
    time: now(),
    formatOptions,
  };
}
