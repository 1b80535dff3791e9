/** The seam to the operating system's keychain: where a secret is kept under a name. Types only. */

import type { Secret } from '../../secrets/secret.ts';

/** Each throws `keychain-unavailable`, `keychain-locked` or `keychain-denied`, and waits for an answer only so long. */
export interface Keychain {
  /** Undefined where there is none under this name; on Linux also where the keychain is locked and stays so. */
  read(name: string): Promise<Secret | undefined>;
  /** Takes the place of what was there. */
  write(name: string, value: Secret): Promise<void>;
  /** False where there was none. */
  remove(name: string): Promise<boolean>;
}
