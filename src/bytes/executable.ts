/** Reads files that are embedded in a single-executable application (docs/decisions/single-executables.md). */

import type sea from 'node:sea';

/** This module exists in Node.js 20.12 and later. */
function seaModule(): typeof sea | undefined {
  return process.getBuiltinModule('node:sea');
}

export function isExecutable(): boolean {
  return seaModule()?.isSea() ?? false;
}

/** Returns undefined if the program runs from the npm package. */
export function assetOf(name: string): string | undefined {
  return isExecutable() ? seaModule()?.getAsset(name, 'utf8') : undefined;
}
