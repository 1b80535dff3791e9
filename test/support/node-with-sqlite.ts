/** Node.js that has SQLite, for what is installed without the package libsql: this one, or 22 of the folder CODESIGN_TEST_NODES. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns a PATH that finds such a Node.js first. Throws if there is no such Node.js. */
export function pathWithSqlite(): string {
  const { PATH = '', CODESIGN_TEST_NODES = '' } = process.env;
  if (process.versions.sqlite !== undefined) return PATH;
  const folder = join(CODESIGN_TEST_NODES, '22', 'node_modules', '.bin');
  if (existsSync(join(folder, 'node'))) return `${folder}${delimiter}${PATH}`;
  throw new Error('This test needs Node.js 22.13 or later: npm install --prefix "$CODESIGN_TEST_NODES/22" node@22');
}
