import type { Purpose } from '../certificates/purpose.ts';
import type { Format } from '../format/format.ts';
import { appx } from './appx/index.ts';
import { asar } from './asar/index.ts';
import { cab } from './cab/index.ts';
import { cat } from './cat/index.ts';
import { jar } from './jar/index.ts';
import { msi } from './msi/index.ts';
import { navx } from './navx/index.ts';
import { nuget } from './nuget/index.ts';
import { pdf } from './pdf/index.ts';
import { pe } from './pe/index.ts';
import { zip } from './plain-zip/index.ts';
import { rdp } from './rdp/index.ts';
import { powershell, wsh } from './script/index.ts';
import { tar } from './tar/index.ts';

const FORMATS = [pe, jar, msi, cab, cat, powershell, wsh, rdp, appx, nuget, navx, pdf] as const;

export const formats: readonly Format[] = FORMATS;

/** Files of these formats are opened only to read the files inside them. */
export const CONTAINERS: readonly Format[] = [tar, asar, zip];

export const PURPOSES: readonly Purpose[] = [...new Set(FORMATS.map(({ purpose }) => purpose))];

/** `--recursive` skips files with one of these extensions. */
export const ONLY_IF_NAMED: ReadonlySet<string> = new Set(formats.flatMap(({ onlyIfNamed = [] }) => onlyIfNamed));

export type DeclaredOption = (typeof FORMATS)[number]['signing']['options'][number];

export const FORMAT_OPTIONS: readonly DeclaredOption[] = [
  ...new Set(FORMATS.flatMap(({ signing }): readonly DeclaredOption[] => signing.options)),
];
