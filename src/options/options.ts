/** The options of the library: callers pass text as a user would type it. */

import type { LibraryOptionsOf } from './table.ts';

export type SettingsOptions = LibraryOptionsOf<'sign'>;
export type VerifyOptions = LibraryOptionsOf<'verify'>;
export type ProfileOptions = Pick<SettingsOptions, 'profile' | 'environment'>;

/** Environment variables by name; an empty value counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;
