/** Ends this process at a chosen change of the file system, or lets that change and all later ones fail. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

export interface Disruption {
  readonly at: number;
  readonly how: 'kill' | 'ENOSPC' | 'EROFS';
}

type Call = (...given: unknown[]) => Promise<unknown>;
type Methods = Record<string, Call>;

const counter = { changes: 0 };

export function countDisruptedCalls(): number {
  return counter.changes;
}

const CHANGES = ['mkdir', 'rename', 'unlink', 'rmdir', 'writeFile'];
const HANDLE_CHANGES = ['write', 'datasync', 'sync'];

export function disruptFileSystem({ at, how }: Disruption): void {
  const disrupt = (name: string, call: Call): Call =>
    async function (this: unknown, ...given) {
      counter.changes += 1;
      if (counter.changes < at) return await call.apply(this, given);
      if (how === 'kill') return end(this, call, name, given);
      // A full disk takes a part of what it is given, and lets files be removed.
      if (how === 'ENOSPC' && ['unlink', 'rmdir', 'rename'].includes(name)) return await call.apply(this, given);
      if (how === 'ENOSPC' && name === 'write') await half(this, call, given);
      throw Object.assign(new Error(how), { code: how, syscall: name });
    };

  const promises = fs.promises as unknown as Methods;
  for (const name of CHANGES) promises[name] = disrupt(name, promises[name] as Call);
  const open = promises.open as Call;
  let patched = false;
  promises.open = async (...given) => {
    const isCreating = typeof given[1] === 'number' && (given[1] & fs.constants.O_CREAT) !== 0;
    const handle = await (isCreating ? disrupt('open', open)(...given) : open(...given));
    if (!patched) {
      patched = true;
      const prototype = Object.getPrototypeOf(handle) as Methods;
      for (const name of HANDLE_CHANGES) prototype[name] = disrupt(name, prototype[name] as Call);
    }
    return handle;
  };
  syncBuiltinESMExports();
}

/** Half of a write may have happened. */
async function end(self: unknown, call: Call, name: string, given: unknown[]): Promise<never> {
  if (name === 'write') await half(self, call, given);
  process.kill(process.pid, 'SIGKILL');
  return await new Promise(() => undefined);
}

async function half(self: unknown, call: Call, [bytes, offset, length]: unknown[]): Promise<void> {
  await call.call(self, bytes, offset, Math.floor(Number(length) / 2));
}
