/** How archives are digested: with threads beside the main one, where the program they run was built. */

import { existsSync } from 'node:fs';
import { createDigestThreads } from '../zip/digest-threads.ts';
import { type DigestEntries, digestEntries, digestEntriesWith } from '../zip/entry-digests.ts';

/** build.mjs puts it beside every other file; in a run from source it is not there. */
const PROGRAM = new URL('./digest-worker.js', import.meta.url);

export function composeDigestEntries(): DigestEntries {
  return existsSync(PROGRAM) ? digestEntriesWith(createDigestThreads(PROGRAM)) : digestEntries;
}
