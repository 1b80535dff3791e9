/** What a keychain says when it does not do what it should, sorted by what its user can do about it. */

import type { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import { settingsErrors } from '../errors.ts';

/** libsecret, then Apple's Security framework; Windows locks nothing apart from the session. */
const LOCKED = [
  /\/secrets\/collection\/|\/secrets\/aliases\//,
  /locked collection|is locked/i,
  /interaction is not allowed|keychain could not be found/i,
];
const DENIED = [
  /cancel|dismissed/i,
  /access is denied|access denied|not permitted/i,
  /name or passphrase you entered is not correct|authorization (was )?denied/i,
];

/** The error for the words of a keychain, which are shown with it. */
export function keychainFailure(words: string): CodesignError {
  const reason = printable(words);
  const fits = (pattern: RegExp): boolean => pattern.test(words);
  if (LOCKED.some(fits)) return settingsErrors('keychain-locked', { reason });
  if (DENIED.some(fits)) return settingsErrors('keychain-denied', { reason });
  return settingsErrors('keychain-unavailable', { reason });
}
