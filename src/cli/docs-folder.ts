import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetOf, isExecutable } from '../bytes/executable.ts';
import type { Io } from './io.ts';

export const DOCS_FOLDER = isExecutable() ? besideExecutable() : fileURLToPath(new URL('../docs', import.meta.url));

/** The Debian package installs the documents next to the executable. */
function besideExecutable(): string {
  const folder = join(dirname(process.execPath), 'docs');
  return existsSync(folder) ? folder : 'the folder docs of the npm package or of the source code';
}

export async function printManual(io: Io): Promise<number> {
  const page = join(DOCS_FOLDER, '../dist/man/codesign-remote.1');
  io.stdout.write(assetOf('codesign-remote.1') ?? (await readFile(page, 'utf8')));
  return 0;
}
