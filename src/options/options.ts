/** Callers of the library pass the text that a user would type. */

import type { LibraryOptionsOf } from './table.ts';

export type SettingsOptions = LibraryOptionsOf<'sign'>;
export type VerifyOptions = LibraryOptionsOf<'verify'>;
export type ProfileOptions = Pick<SettingsOptions, 'profile' | 'environment'>;

/** An empty value is like a missing one. */
export type Environment = Readonly<Record<string, string | undefined>>;
