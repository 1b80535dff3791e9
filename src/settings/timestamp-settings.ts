/** Which time stamp authorities are asked, and for what. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { settingsErrors } from './errors.ts';
import type { Environment, TimestampOptions } from './options.ts';
import { type Given, given, readAlgorithm, refuse } from './values.ts';

export interface TimestampSettings {
  /** Of RFC 3161 authorities, in the order they are tried; empty for no timestamp. */
  readonly urls: readonly URL[];
  /** Of the message imprint. */
  readonly algorithm: DigestAlgorithm;
  /** Dotted; undefined for whichever the authority has. */
  readonly policy: string | undefined;
  /** Whether the user has said that no timestamp is wanted. */
  readonly isDeclined: boolean;
}

const VARIABLE = 'CODESIGN_TIMESTAMP_URL';
const OPTION = '--timestamp-url';
/** X.660: below the roots 0 and 1 there are 40 arcs; a larger number would be encoded as another object identifier. */
const POLICY = /^([01]\.[1-3]?\d|2\.(0|[1-9]\d{0,9}))(\.(0|[1-9]\d{0,9})){0,29}$/;

/** `otherwise`: the algorithm where none is given for timestamps. Throws `invalid-setting`, `settings-conflict`. */
export function resolveTimestampSettings(
  options: TimestampOptions,
  env: Environment,
  otherwise: DigestAlgorithm,
): TimestampSettings {
  const { timestampUrl = [], timestampAlgorithm, timestampPolicy, timestamp = true } = options;
  if (!timestamp && timestampUrl.length > 0) {
    throw settingsErrors('settings-conflict', { options: `${OPTION} and --no-timestamp` });
  }
  return {
    urls: timestamp ? readUrls(timestampUrl, env) : [],
    algorithm: readAlgorithm(given(timestampAlgorithm, '--timestamp-algorithm'), otherwise),
    policy: readPolicy(given(timestampPolicy, '--timestamp-policy')),
    isDeclined: !timestamp,
  };
}

function readUrls(fromOptions: readonly string[], env: Environment): readonly URL[] {
  const inVariable = (env[VARIABLE] ?? '').split(/\s+/).filter((part) => part !== '');
  const named =
    fromOptions.length > 0
      ? fromOptions.map((value) => ({ value, name: OPTION }))
      : inVariable.map((value) => ({ value, name: VARIABLE }));
  const urls = new Map(named.map((one) => [one.value, readUrl(one)]));
  return [...urls.values()];
}

/** Plain `http:` is what most authorities have: what they sign is checked, and nothing secret is sent. */
function readUrl({ value, name }: Given): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    refuse({ value, name }, 'the address of a time stamp authority, such as http://timestamp.example.com');
  }
  // It may be a password: not in a message either.
  if (url.username !== '' || url.password !== '') throw settingsErrors('timestamp-url-holds-credentials', { name });
  return url;
}

function readPolicy(from: Given | undefined): string | undefined {
  if (from === undefined || POLICY.test(from.value)) return from?.value;
  return refuse(from, 'an object identifier, such as 1.3.6.1.4.1.99999.1');
}
