/** Ids of signature records as they may be shown and stored: what the service sends as an id may be anything, a secret too. */

import { createHash } from 'node:crypto';
import type { SecretSearch } from '../secrets/secret-search.ts';

/** Characters. */
const LONGEST = 256;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
const DIGEST = /^sha256:[0-9a-f]{64} \(the id is not stored: [^()]*\)$/;

/** The id itself, if it has 1 to 256 printable characters and holds no secret. A digest of it with a note otherwise. */
export function storableRecord(id: string, secrets: SecretSearch): string {
  const problem = problemOf(id, secrets);
  if (problem === undefined) return id;
  // Of the masked text: the digest of a secret could be searched for.
  const digest = createHash('sha256').update(secrets.mask(id)).digest('hex');
  return `sha256:${digest} (the id is not stored: ${problem})`;
}

function problemOf(id: string, secrets: SecretSearch): string | undefined {
  const length = [...id].length;
  if (length > LONGEST) return `it has ${length} characters`;
  if (UNPRINTABLE.test(id)) return 'it has unprintable characters';
  if (secrets.isIn(id)) return 'it holds a credential';
  return DIGEST.test(id) ? 'it looks like a digest of another id' : undefined;
}

/** Whether a stored record is the service's own id, and not a digest of it. */
export function isServiceId(record: string): boolean {
  return !DIGEST.test(record);
}
