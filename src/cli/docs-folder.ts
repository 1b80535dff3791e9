import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isExecutable } from '../bytes/executable.ts';

export const DOCS_FOLDER = isExecutable() ? besideExecutable() : fileURLToPath(new URL('../docs', import.meta.url));

/** The Debian package installs the documents next to the executable. */
function besideExecutable(): string {
  const folder = join(dirname(process.execPath), 'docs');
  return existsSync(folder) ? folder : 'the folder docs of the npm package or of the source code';
}
