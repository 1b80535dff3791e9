/** Which time stamp authorities are asked, and for what. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { settingsErrors } from './errors.ts';
import type { Lookup } from './lookup.ts';
import type { TimestampOptions } from './options.ts';
import { readTimestampPolicy, readTimestampUrl } from './timestamp-values.ts';
import { type Given, readAlgorithm, readText } from './values.ts';

export interface TimestampSettings {
  /** Of RFC 3161 authorities, in the order they are tried; empty for no timestamp. */
  readonly urls: readonly URL[];
  /** Of the message imprint. */
  readonly algorithm: DigestAlgorithm;
  /** Dotted; undefined for whichever the authority has. */
  readonly policy: string | undefined;
  /** Path of a PEM file: the chain of every timestamp must end at one of its certificates. Undefined for any chain. */
  readonly roots: string | undefined;
  /** Whether the user has said that no timestamp is wanted. */
  readonly isDeclined: boolean;
}

/** `otherwise`: the algorithm where none is given for timestamps. Throws `invalid-setting`, `settings-conflict`. */
export function resolveTimestampSettings(
  { timestamp = true, timestampUrl = [] }: TimestampOptions,
  look: Lookup,
  otherwise: DigestAlgorithm,
): TimestampSettings {
  if (!timestamp && timestampUrl.length > 0) {
    throw settingsErrors('settings-conflict', { options: '--timestamp-url and --no-timestamp' });
  }
  const policy = look.one('timestampPolicy');
  const roots = look.one('timestampRoots');
  return {
    urls: timestamp ? readUrls(look.all('timestampUrl')) : [],
    algorithm: readAlgorithm(look.one('timestampAlgorithm'), otherwise),
    policy: policy && readTimestampPolicy(policy),
    roots: roots && readText(roots),
    isDeclined: !timestamp,
  };
}

/** Each once. */
function readUrls(named: readonly Given[]): readonly URL[] {
  const urls = new Map(named.map((one) => [one.value, readTimestampUrl(one)]));
  return [...urls.values()];
}
