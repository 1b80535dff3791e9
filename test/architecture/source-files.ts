/** The repository's own files, for the tests that hold the house rules. */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every TypeScript file under the given folders, relative to the root, with forward slashes. */
export function typescriptFiles(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/')))
      .sort(),
  );
}
