/** Where reading files is wired: the formats there are, and how what is in archives is digested. */

import { formats } from '../formats/registry.ts';
import type { Reading } from '../verifying/verify-file.ts';
import { composeDigestEntries } from './compose-digests.ts';

export function composeReading(): Reading {
  return { formats, digestEntries: composeDigestEntries() };
}
