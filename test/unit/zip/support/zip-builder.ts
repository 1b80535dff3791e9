/** Archives put together by hand, with every field as a test wants it. */

import type { EntryParts } from '../../../../fixtures/zip-builder.mjs';

export type { ArchiveParts, EntryParts } from '../../../../fixtures/zip-builder.mjs';
export { buildZip, extraField, localRecord } from '../../../../fixtures/zip-builder.mjs';

export const STORED = 0;
export const DEFLATED = 8;

export function stored(name: string, about: Omit<EntryParts, 'name'> = {}): EntryParts {
  return { name, contents: `This is ${name}.\n`, method: STORED, ...about };
}

export function deflated(name: string, about: Omit<EntryParts, 'name'> = {}): EntryParts {
  return { name, contents: `This is ${name}.\n`, method: DEFLATED, ...about };
}
