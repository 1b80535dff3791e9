/** Credentials in the keychain: one entry for each environment of a profile, bound to one origin. */

import * as v from 'valibot';
import { Secret } from '../../secrets/secret.ts';
import { settingsErrors } from '../errors.ts';
import { type Account, accountName, type Keychain } from './keychain.ts';

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

/** Undefined where the environment of the profile has none. Throws `keychain-entry-unusable`, and what the keychain throws. */
export async function readStoredCredentials(
  keychain: Keychain,
  account: Account,
): Promise<StoredCredentials | undefined> {
  const entry = await keychain.read(accountName(account));
  if (entry === undefined) return undefined;
  const parsed = v.safeParse(entrySchema, parseJson(entry.reveal()));
  if (!parsed.success) throw settingsErrors('keychain-entry-unusable', account);
  const { accessSecret, ...rest } = parsed.output;
  return { ...rest, accessSecret: new Secret(accessSecret) };
}

/** Replaces those that the environment of the profile had. */
export async function storeCredentials(
  keychain: Keychain,
  account: Account,
  { origin, accessKey, accessSecret }: StoredCredentials,
): Promise<void> {
  const entry = JSON.stringify({ origin, accessKey, accessSecret: accessSecret.reveal() });
  await keychain.write(accountName(account), new Secret(entry));
}

/** Undefined for what is no JSON. The parser's error would quote the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
