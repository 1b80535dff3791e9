/**
 * For `node --require`: ends the process with SIGKILL at the step that CODESIGN_TEST_KILL_AT numbers, counted from 1 over what it
 * asks of the file system and of SQLite, and sends to and receives from the network. With CODESIGN_TEST_KILL_TORN a write is half done by then.
 * CODESIGN_TEST_KILL_CALL ends it before its first call of a function of `fs` by that name, or the first statement that has this
 * text. CODESIGN_TEST_STEPS_FILE names a file for
 * the number of steps of a process that came to its end.
 */
'use strict';

const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const net = require('node:net');

const killAt = Number(process.env.CODESIGN_TEST_KILL_AT ?? 0);
const killCall = process.env.CODESIGN_TEST_KILL_CALL;
const isTorn = process.env.CODESIGN_TEST_KILL_TORN !== undefined;
const { writeSync } = fs;
let steps = 0;
let isOver = false;

function step(tear) {
  steps += 1;
  if (isOver) writeSteps();
  if (steps !== killAt) return;
  if (isTorn && tear !== undefined) tear();
  process.kill(process.pid, 'SIGKILL');
}

function countCalls(object, name, tear) {
  const original = object[name];
  object[name] = function (...args) {
    if (name === killCall) process.kill(process.pid, 'SIGKILL');
    step(tear && (() => tear(this, ...args)));
    return original.apply(this, args);
  };
}

/** As FileHandle.write and writeSync: half of it. */
function writeHalf(fd, buffer, offset = 0, length = buffer.length - offset, position = null) {
  writeSync(fd, buffer, offset, Math.floor(length / 2), position);
}

let isPatched = false;
const { open } = fs.promises;
fs.promises.open = async (...args) => {
  step();
  const handle = await open(...args);
  if (!isPatched) {
    isPatched = true;
    const prototype = Object.getPrototypeOf(handle);
    countCalls(prototype, 'write', ({ fd }, ...args) => writeHalf(fd, ...args));
    for (const name of ['sync', 'datasync', 'truncate', 'chmod', 'chown', 'close']) countCalls(prototype, name);
  }
  return handle;
};
for (const name of ['mkdir', 'rename', 'unlink', 'writeFile']) countCalls(fs.promises, name);
// What it asks directly, and not through the thread pool.
countCalls(fs, 'writeSync', (_fs, ...args) => writeHalf(...args));
// Folders are opened only to enter them, with each thing that is done in them: such steps would be most of all.
const folders = new Set();
const { closeSync, openSync } = fs;
fs.openSync = (name, flags, mode) => {
  const isFolder = (flags & fs.constants.O_DIRECTORY) !== 0;
  if (!isFolder) step();
  const fd = openSync(name, flags, mode);
  if (isFolder) folders.add(fd);
  return fd;
};
fs.closeSync = (fd) => {
  if (!folders.delete(fd)) step();
  closeSync(fd);
};
for (const name of ['ftruncate', 'fchmod', 'fchown', 'link', 'rename', 'unlink']) countCalls(fs, `${name}Sync`);
for (const name of ['fsync', 'fdatasync']) countCalls(fs, name);
syncBuiltinESMExports();
// Before each statement that may change something.
require('../runs/sqlite-statements.cjs')((text) => {
  if (killCall !== undefined && text.includes(killCall)) process.kill(process.pid, 'SIGKILL');
  step();
});

// Before a request is sent, and before its answer is heard.
for (const name of ['write', 'push']) {
  if (!Object.hasOwn(net.Socket.prototype, name)) {
    const inherited = net.Socket.prototype[name];
    net.Socket.prototype[name] = function (...args) {
      return inherited.apply(this, args);
    };
  }
  countCalls(net.Socket.prototype, name);
}

function writeSteps() {
  // What is counted while it is written would write it again.
  isOver = false;
  if (process.env.CODESIGN_TEST_STEPS_FILE) fs.writeFileSync(process.env.CODESIGN_TEST_STEPS_FILE, String(steps));
  isOver = true;
}
// The program has its own last actions, which follow this one.
process.once('exit', writeSteps);
