/** Every format there is: one line each. */

import type { Format } from './format.ts';
import { jar } from './jar/index.ts';
import { pe } from './pe/index.ts';

const FORMATS = [pe, jar] as const;

export const formats: readonly Format[] = FORMATS;

/** An option that one of them declares. */
export type DeclaredOption = (typeof FORMATS)[number]['options'][number];

/** Every option that a format declares, each once. */
export const FORMAT_OPTIONS: readonly DeclaredOption[] = [
  ...new Set(FORMATS.flatMap(({ options }): readonly DeclaredOption[] => options)),
];
