/** Files inside a single executable, which has no other files next to it (docs/decisions/single-executables.md). */

import type sea from 'node:sea';

/** Node.js 20.12 and later. */
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
