/** What a command cannot do without and was not given: all of it told at once, so that nobody learns of it run by run. */

import { settingsErrors } from './errors.ts';
import { SETTINGS } from './keys.ts';
import type { Lookup } from './lookup.ts';
import { readText } from './values.ts';

const ADDRESS = { option: '--base-url', variable: 'CODESIGN_BASE_URL' };

const NEEDED = {
  baseUrl: { what: 'the address of the signing service', ...ADDRESS },
  code: { what: 'the number of the certificate at the service', ...SETTINGS.code },
  certificate: { what: 'the signing certificate and its chain', ...SETTINGS.certificate },
};

const CREDENTIALS =
  ' Credentials are needed as well: codesign-remote login keeps them, or set CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET.';

/** `isWithoutCredentials`: the environment has none either, which would be the next thing to be told of. */
export interface Missing {
  readonly settings: readonly (keyof typeof NEEDED)[];
  readonly isWithoutCredentials?: boolean;
}

/** Throws `setting-missing` unless nothing is missing. */
export function refuseMissing({ settings, isWithoutCredentials = false }: Missing): void {
  if (settings.length === 0) return;
  const missing = settings.map((key) => NEEDED[key]);
  throw settingsErrors('setting-missing', {
    what: missing.map(({ what }) => what).join('; '),
    option: inWords(missing.map(({ option }) => option)),
    variable: inWords(missing.map(({ variable }) => variable)),
    besides: isWithoutCredentials ? CREDENTIALS : '',
  });
}

/** Throws `setting-missing`. */
export function requireCertificates(look: Lookup): readonly string[] {
  const found = look.all('certificate');
  if (found.length === 0) refuseMissing({ settings: ['certificate'] });
  return found.map(readText);
}

/** a; a and b; a, b and c. */
function inWords(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last;
}
