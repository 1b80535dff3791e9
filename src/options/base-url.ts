/** The service's base address, judged: https, or http to this machine only; no credentials, query or fragment in it. */

import { isLoopback } from '../http/loopback.ts';
import { settingsErrors } from './errors.ts';

/**
 * The address with its path kept and trailing slashes dropped. `name` says in errors where the text came from
 * (`--base-url`, `CODESIGN_BASE_URL`). Throws `base-url-invalid`, `base-url-insecure` or `base-url-holds-credentials`,
 * none of which repeats the text.
 */
export function parseBaseUrl(text: string, name: string): URL {
  if (!URL.canParse(text)) throw settingsErrors('base-url-invalid', { name, problem: 'it is no URL' });
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw settingsErrors('base-url-holds-credentials', { name });
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw settingsErrors('base-url-invalid', { name, problem: 'it must begin with https://' });
  }
  // The text is asked too: a bare "?" or "#" leaves no trace in the parsed address.
  if (/[?#]/.test(text)) throw settingsErrors('base-url-invalid', { name, problem: 'it has a query or a fragment' });
  if (url.protocol === 'http:' && !isLoopback(url)) throw settingsErrors('base-url-insecure', { name, host: url.host });
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}
