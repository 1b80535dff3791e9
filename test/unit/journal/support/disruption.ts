/** Ends this process at a chosen change of the file system. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Call = (...given: unknown[]) => unknown;
type Methods = Record<string, Call>;

const counter = { changes: 0 };

export function countChanges(): number {
  return counter.changes;
}

const CHANGES = ['mkdir', 'rename', 'unlink', 'rmdir', 'writeFile'];

/** `killAt`: the number of the change, from 1. */
export function watchChanges(killAt: number): void {
  /** Counts a change; does not come back where it is the one. */
  const meet = (half: () => void = () => undefined): void => {
    counter.changes += 1;
    if (counter.changes !== killAt) return;
    half();
    process.kill(process.pid, 'SIGKILL');
  };

  const promises = fs.promises as unknown as Methods;
  for (const name of CHANGES) {
    const call = promises[name] as Call;
    promises[name] = async (...given) => {
      meet();
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
        meet();
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
    if (isOfJournal && (flags & fs.constants.O_CREAT) !== 0) meet();
    const file = openSync(path as string, flags as string, mode as number);
    if (isOfJournal) files.add(file);
    else files.delete(file);
    return file;
  };
  direct.writeSync = (file, ...given) => {
    const write = (much: unknown): number =>
      Reflect.apply(writeSync, fs, [file, given[0], given[1], much, ...given.slice(3)]);
    if (files.has(file)) meet(() => write(Math.floor(Number(given[2]) / 2)));
    return write(given[2]);
  };
  direct.unlinkSync = (path) => {
    meet();
    unlinkSync(path as string);
  };
  direct.fdatasync = (file, then) => {
    meet();
    fdatasync(file as number, then as fs.NoParamCallback);
  };
  syncBuiltinESMExports();
}
