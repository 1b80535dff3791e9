/** Preloads use this: it calls `before` ahead of each call with which the process asks the file system for something. */
'use strict';

const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const OF_HANDLE = ['write', 'read', 'sync', 'datasync', 'truncate', 'chmod', 'chown', 'stat', 'writeFile'];
const OF_PATH = ['mkdir', 'rename', 'unlink', 'writeFile', 'stat', 'statfs', 'readdir', 'access'];
/** These calls go to the file system directly, and not through the thread pool: by a descriptor, or by a path. */
const DIRECT = { write: 'write', read: 'read', ftruncate: 'truncate', fchmod: 'chmod', fchown: 'chown' };
const DIRECT_BY_PATH = { stat: 'stat', rename: 'rename', link: 'link', unlink: 'unlink' };

/**
 * `before(operation, path, tear)`: the call fails with what it throws. `path` is undefined if the file was opened otherwise;
 * `tear` does half of a `write`.
 */
module.exports = function watchFiles(before) {
  const { closeSync, openSync, writeSync } = fs;
  const { open } = fs.promises;
  /** The paths of open files, by their descriptors. */
  const paths = new Map();

  const writeHalf = (fd, buffer, offset = 0, length = buffer.length - offset, position = null) =>
    writeSync(fd, buffer, offset, Math.floor(length / 2), position);
  const meet = (operation, subject, args) => {
    const path = typeof subject === 'number' ? paths.get(subject) : subject;
    before(operation, path, () => writeHalf(subject, ...args));
  };
  const meetOpening = (path, flags) => {
    const isMade = typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : /^wx/.test(flags);
    before(isMade ? 'create' : 'open', path);
  };

  let isPatched = false;
  fs.promises.open = async (path, flags, ...rest) => {
    meetOpening(path, flags);
    const handle = await open(path, flags, ...rest);
    paths.set(handle.fd, path);
    if (isPatched) return handle;
    isPatched = true;
    const prototype = Object.getPrototypeOf(handle);
    for (const operation of OF_HANDLE) {
      const original = prototype[operation];
      prototype[operation] = async function (...args) {
        meet(operation, this.fd, args);
        return await original.apply(this, args);
      };
    }
    return handle;
  };
  for (const operation of OF_PATH) {
    const original = fs.promises[operation];
    fs.promises[operation] = async (path, ...args) => {
      meet(operation, path, args);
      return await original(path, ...args);
    };
  }

  fs.openSync = (path, flags, ...rest) => {
    // Folders are opened only to enter them, with each thing that is done in them: such calls would be most of all.
    const isFolder = (flags & fs.constants.O_DIRECTORY) !== 0;
    if (!isFolder) meetOpening(path, flags);
    const fd = openSync(path, flags, ...rest);
    if (isFolder) paths.delete(fd);
    else paths.set(fd, path);
    return fd;
  };
  fs.closeSync = (fd) => {
    if (paths.has(fd)) meet('close', fd);
    paths.delete(fd);
    closeSync(fd);
  };
  for (const [name, operation] of Object.entries({ ...DIRECT, ...DIRECT_BY_PATH })) {
    const original = fs[`${name}Sync`];
    fs[`${name}Sync`] = (subject, ...args) => {
      meet(operation, subject, args);
      return original(subject, ...args);
    };
  }
  for (const operation of ['sync', 'datasync']) {
    const original = fs[`f${operation}`];
    fs[`f${operation}`] = (fd, callback) => {
      try {
        meet(operation, fd);
      } catch (thrown) {
        return process.nextTick(callback, thrown);
      }
      original(fd, callback);
    };
  }
  syncBuiltinESMExports();
};
