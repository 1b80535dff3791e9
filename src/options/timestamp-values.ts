/** What names a time stamp authority, and what is asked of it. */

import { settingsErrors } from './errors.ts';
import { type Given, refuse } from './values.ts';

/** X.660: below the roots 0 and 1 there are 40 arcs; a larger number would be encoded as another object identifier. */
const POLICY = /^([01]\.[1-3]?\d|2\.(0|[1-9]\d{0,9}))(\.(0|[1-9]\d{0,9})){0,29}$/;

/** Plain `http:` is what most authorities have: what they sign is checked, and nothing secret is sent. */
export function readTimestampUrl({ value, name }: Given): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    refuse({ value, name }, 'the address of a time stamp authority, such as http://timestamp.example.com');
  }
  // It may be a password: not in a message either.
  if (url.username !== '' || url.password !== '') throw settingsErrors('timestamp-url-holds-credentials', { name });
  return url;
}

export function readTimestampPolicy(from: Given): string {
  return POLICY.test(from.value) ? from.value : refuse(from, 'an object identifier, such as 1.3.6.1.4.1.99999.1');
}
