/**
 * For `node --require`: ends the process with SIGKILL at the step that CODESIGN_TEST_KILL_AT numbers, counted from 1 over what it
 * asks of the file system and of SQLite, and sends to and receives from the network. With CODESIGN_TEST_KILL_TORN a write is half
 * done by then; CODESIGN_TEST_KILL_SIGNAL replaces SIGKILL. CODESIGN_TEST_KILL_CALL ends it before the first statement that has
 * this text. CODESIGN_TEST_STEPS_FILE names a file for the number of steps of a process that came to its end.
 */
'use strict';

const fs = require('node:fs');
const net = require('node:net');

const killAt = Number(process.env.CODESIGN_TEST_KILL_AT ?? 0);
const killCall = process.env.CODESIGN_TEST_KILL_CALL;
const isTorn = process.env.CODESIGN_TEST_KILL_TORN !== undefined;
/** Calls of the file system that are no steps: they change nothing. */
const READING = ['read', 'stat', 'statfs', 'readdir', 'access'];
let steps = 0;
let isOver = false;

function step(tear) {
  steps += 1;
  if (isOver) writeSteps();
  if (steps !== killAt) return;
  if (isTorn) tear?.();
  process.kill(process.pid, process.env.CODESIGN_TEST_KILL_SIGNAL ?? 'SIGKILL');
}

require('../runs/watched-files.cjs')((operation, _path, tear) => {
  if (!READING.includes(operation)) step(operation === 'write' ? tear : undefined);
});
// Before each statement that may change something.
require('../runs/sqlite-statements.cjs')((text) => {
  if (killCall !== undefined && text.includes(killCall)) process.kill(process.pid, 'SIGKILL');
  step();
});

// Before a request is sent, and before its answer is heard.
for (const name of ['write', 'push']) {
  const original = net.Socket.prototype[name];
  net.Socket.prototype[name] = function (...args) {
    step();
    return original.apply(this, args);
  };
}

function writeSteps() {
  // What is counted while it is written would write it again.
  isOver = false;
  if (process.env.CODESIGN_TEST_STEPS_FILE) fs.writeFileSync(process.env.CODESIGN_TEST_STEPS_FILE, String(steps));
  isOver = true;
}
// The program has its own last actions, which follow this one.
process.once('exit', writeSteps);
