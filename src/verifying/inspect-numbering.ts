/** The numbers of a file's signatures: 1 for the first, those nested in it before the next beside it. */

import type { EmbeddedSignature } from '../formats/format.ts';

/** All of them, in the order of their numbers: the first is number 1. */
export function numberedSignatures(signatures: readonly EmbeddedSignature[]): readonly EmbeddedSignature[] {
  return signatures.flatMap((signature) => [signature, ...numberedSignatures(signature.nested)]);
}
