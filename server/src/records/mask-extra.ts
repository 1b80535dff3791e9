/** What is kept of a request's `extra` (API 2.3): paths may name people and projects, so only their last part stays. */

import type { Extra } from '../../../src/service/messages.ts';

export function maskExtra(extra: Extra | undefined): Extra | undefined {
  if (extra?.signing_filename === undefined) return extra;
  return { ...extra, signing_filename: extra.signing_filename.split(/[/\\]/).at(-1) ?? '' };
}
