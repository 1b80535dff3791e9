/** What `remove`, `attach` and `timestamp` make of a file, in memory. */

import type { Patch } from '../../../../src/bytes/pieces.ts';
import { requireCapability } from '../../../../src/format/format.ts';
import type { Embedding, SignableFile } from '../../../../src/format/signable-file.ts';
import type { Envelope } from '../../../../src/format/signature.ts';

const ANY = { title: 'any format' };

export async function removalOf({ removing }: SignableFile): Promise<Patch> {
  return await requireCapability(removing, 'removed', ANY).patch();
}

export async function placeIn({ attaching }: SignableFile, envelope: Envelope): Promise<Embedding> {
  return await requireCapability(attaching, 'attached', ANY).place(envelope);
}

export async function stampIn(
  { stamping }: SignableFile,
  tokens: ReadonlyMap<{ readonly location: string }, Uint8Array>,
): Promise<Embedding> {
  if (stamping?.of !== 'each-signature') throw new TypeError('a file with timestamps of each signature was expected');
  return await stamping.stamp(new Map(Array.from(tokens, ([{ location }, token]) => [location, token])));
}

export function wholeStamping({ stamping }: SignableFile) {
  if (stamping?.of !== 'file') throw new TypeError('a file with timestamps of the whole was expected');
  return stamping;
}
