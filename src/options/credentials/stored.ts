/** Credentials in the keychain: one entry for each profile, so that never half of them is stored, bound to one origin. */

import * as v from 'valibot';
import { Secret } from '../../secrets/secret.ts';
import { settingsErrors } from '../errors.ts';
import type { Keychain } from './keychain.ts';

export interface StoredCredentials {
  /** Scheme, host and port of the service they were given for: they go to no other. */
  readonly origin: string;
  readonly accessKey: string;
  readonly accessSecret: Secret;
}

const entrySchema = v.object({
  origin: v.pipe(v.string(), v.nonEmpty()),
  accessKey: v.pipe(v.string(), v.nonEmpty()),
  accessSecret: v.pipe(v.string(), v.nonEmpty()),
});

/** Undefined where the profile has none. Throws `keychain-entry-unusable`, and what the keychain throws. */
export async function readStoredCredentials(
  keychain: Keychain,
  profile: string,
): Promise<StoredCredentials | undefined> {
  const entry = await keychain.read(profile);
  if (entry === undefined) return undefined;
  const parsed = v.safeParse(entrySchema, parseJson(entry.reveal()));
  if (!parsed.success) throw settingsErrors('keychain-entry-unusable', { profile });
  const { accessSecret, ...rest } = parsed.output;
  return { ...rest, accessSecret: new Secret(accessSecret) };
}

/** In the place of those the profile had. */
export async function storeCredentials(
  keychain: Keychain,
  profile: string,
  { origin, accessKey, accessSecret }: StoredCredentials,
): Promise<void> {
  const entry = JSON.stringify({ origin, accessKey, accessSecret: accessSecret.reveal() });
  await keychain.write(profile, new Secret(entry));
}

/** Undefined for what is no JSON. The parser's error would quote the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
