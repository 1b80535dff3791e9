/** Ends this process at a chosen change of the file system, or lets that change and all later ones fail. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

export interface Disruption {
  readonly at: number;
  readonly how: 'kill' | 'ENOSPC' | 'EROFS';
}

type Call = (...given: unknown[]) => unknown;
type Methods = Record<string, Call>;

const counter = { changes: 0 };

export function countDisruptedCalls(): number {
  return counter.changes;
}

const CHANGES = ['mkdir', 'rename', 'unlink', 'rmdir', 'writeFile'];

export function disruptFileSystem({ at, how }: Disruption): void {
  /** Counts a change; throws, or does not come back, where it is the one. */
  const meet = (name: string, half: () => void = () => undefined): void => {
    counter.changes += 1;
    if (counter.changes < at) return;
    if (how === 'kill') {
      half();
      process.kill(process.pid, 'SIGKILL');
    }
    // A full disk takes a part of what it is given, and lets files be removed.
    if (how === 'ENOSPC' && ['unlink', 'rmdir', 'rename'].includes(name)) return;
    if (how === 'ENOSPC') half();
    throw Object.assign(new Error(how), { code: how, syscall: name });
  };

  const promises = fs.promises as unknown as Methods;
  for (const name of CHANGES) {
    const call = promises[name] as Call;
    promises[name] = async (...given) => {
      meet(name);
      return await call(...given);
    };
  }
  const open = promises.open as Call;
  let patched = false;
  promises.open = async (...given) => {
    const handle = await open(...given);
    if (!patched) {
      patched = true;
      const prototype = Object.getPrototypeOf(handle) as Methods;
      const sync = prototype.sync as Call;
      prototype.sync = async function (this: unknown) {
        meet('sync');
        return await sync.call(this);
      };
    }
    return handle;
  };

  const { openSync, writeSync, fdatasync, unlinkSync } = fs;
  const direct = fs as unknown as Methods;
  /** The journal's: Node itself opens and writes by these functions too. */
  const files = new Set<unknown>();
  direct.openSync = (path, flags, mode) => {
    const isOfJournal = typeof flags === 'number' && (flags & fs.constants.O_APPEND) !== 0;
    if (isOfJournal && (flags & fs.constants.O_CREAT) !== 0) meet('open');
    const file = openSync(path as string, flags as string, mode as number);
    if (isOfJournal) files.add(file);
    else files.delete(file);
    return file;
  };
  direct.writeSync = (file, ...given) => {
    const write = (much: unknown): number =>
      Reflect.apply(writeSync, fs, [file, given[0], given[1], much, ...given.slice(3)]);
    if (files.has(file)) meet('write', () => write(Math.floor(Number(given[2]) / 2)));
    return write(given[2]);
  };
  direct.unlinkSync = (path) => {
    meet('unlink');
    unlinkSync(path as string);
  };
  direct.fdatasync = (file, then) => {
    const done = then as (thrown: unknown) => void;
    try {
      meet('fdatasync');
    } catch (thrown) {
      return done(thrown);
    }
    fdatasync(file as number, done);
  };
  syncBuiltinESMExports();
}
