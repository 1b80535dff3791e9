/** The user's home folder, where there is one that can be relied on. */

import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * Undefined for a user without one, as in some containers. Where HOME is empty or relative, what Node gives would lead into
 * the working folder, and a cloned repository could bring settings along that it must not choose.
 */
export function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}
