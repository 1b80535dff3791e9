import type { Purpose } from '../certificates/purpose.ts';
import { appx } from './appx/index.ts';
import { cab } from './cab/index.ts';
import { cat } from './cat/index.ts';
import type { Format } from './format.ts';
import { jar } from './jar/index.ts';
import { msi } from './msi/index.ts';
import { navx } from './navx/index.ts';
import { nuget } from './nuget/index.ts';
import { pdf } from './pdf/index.ts';
import { pe } from './pe/index.ts';
import { rdp } from './rdp/index.ts';
import { powershell, wsh } from './script/index.ts';

const FORMATS = [pe, jar, msi, cab, cat, powershell, wsh, rdp, appx, nuget, navx, pdf] as const;

export const formats: readonly Format[] = FORMATS;

/** What certificates must be for, each once: one that has none of these signs no file. */
export const PURPOSES: readonly Purpose[] = [...new Set(FORMATS.map(({ purpose }) => purpose))];

/** Files with these extensions are not taken from folders. */
export const ONLY_IF_NAMED: ReadonlySet<string> = new Set(formats.flatMap(({ onlyIfNamed = [] }) => onlyIfNamed));

/** An option that one of them declares. */
export type DeclaredOption = (typeof FORMATS)[number]['options'][number];

/** Every option that a format declares, each once. */
export const FORMAT_OPTIONS: readonly DeclaredOption[] = [
  ...new Set(FORMATS.flatMap(({ options }): readonly DeclaredOption[] => options)),
];
