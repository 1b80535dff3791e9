/**
 * For `node --require`: lets what the process asks of the file system and of SQLite go wrong as CODESIGN_TEST_FAULT says, several with spaces
 * between: `operation:place:which:effect`. `which` counts the calls of this operation at this place from 1, `2+` is the
 * second and all later ones, `1@sync:copy:1` the first after another call. Effects: an error code (a write gets half of
 * its bytes down first); `clock-back` sets the calendar of this process back by an hour;
 * `fill` takes all room there is with the file that CODESIGN_TEST_FAULT_FILL names; after these two the call continues.
 * CODESIGN_TEST_FAULT_TRACE names a file for the calls of the process, one a line. A process that never met its fault ends with 99.
 */
'use strict';

const os = require('node:os');
const path = require('node:path');

const {
  CODESIGN_TEST_FAULT = '',
  CODESIGN_TEST_FAULT_FILL,
  CODESIGN_TEST_FAULT_TRACE,
  CODESIGN_STATE_DIR = '',
} = process.env;
const { appendFileSync, closeSync, openSync, writeSync } = require('node:fs');
const HOUR = 3_600_000;
const FAULT = /^(\w+):([\w-]+):(\d+)(\+?)(?:@(\w+:[\w-]+:\d+))?:([\w-]+)$/;

const faults = CODESIGN_TEST_FAULT.split(' ')
  .filter((text) => text !== '')
  .map((text) => {
    const [, operation, place, which, lasting, after, effect] = FAULT.exec(text) ?? [];
    if (operation === undefined) throw new Error(`CODESIGN_TEST_FAULT is not understood: ${text}`);
    return { call: `${operation}:${place}`, which: Number(which), isLasting: lasting !== '', after, effect, seen: 0 };
  });
const counts = new Map();

/** What a path is to the program. */
function placeOf(name) {
  const file = path.resolve(String(name));
  const inState = path.relative(CODESIGN_STATE_DIR, file);
  if (CODESIGN_STATE_DIR !== '' && !inState.startsWith('..')) return placeInJournal(inState.split(path.sep));
  if (/^\.codesign-remote-.*\.tmp$/.test(path.basename(file))) return 'copy';
  if (/\/app\.\w+$/.test(file)) return 'file';
  return path.basename(file) === 'files' ? 'folder' : 'other';
}

function placeInJournal([name]) {
  if (name === '') return 'state';
  return { 'journal.db': 'database', 'journal.space': 'space', '.probe': 'probe' }[name] ?? 'other';
}

/** The effect that this call shall have, if any. */
function effectOn(operation, place) {
  const call = `${operation}:${place}`;
  const number = (counts.get(call) ?? 0) + 1;
  counts.set(call, number);
  if (CODESIGN_TEST_FAULT_TRACE) appendFileSync(CODESIGN_TEST_FAULT_TRACE, `${call}:${number}\n`);
  let effect;
  for (const fault of faults) {
    if (fault.after === `${call}:${number}`) fault.after = undefined;
    else if (fault.after === undefined && fault.call === call) {
      fault.seen += 1;
      if (fault.isLasting ? fault.seen >= fault.which : fault.seen === fault.which) effect ??= fault.effect;
    }
  }
  return effect;
}

function systemError(code, syscall) {
  return Object.assign(new Error(`${code}: injected fault, ${syscall}`), {
    code,
    errno: -os.constants.errno[code],
    syscall,
  });
}

let shift = 0;
function setClockBack() {
  const RealDate = Date;
  if (shift === 0) {
    globalThis.Date = class extends RealDate {
      constructor(...args) {
        if (args.length === 0) super(RealDate.now() + shift);
        else super(...args);
      }
      static now() {
        return RealDate.now() + shift;
      }
    };
  }
  shift -= HOUR;
}

function fillDisk() {
  const file = openSync(CODESIGN_TEST_FAULT_FILL, 'a');
  for (let length = 65_536; length >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(length));
    } catch {
      length = Math.floor(length / 2);
    }
  }
  closeSync(file);
}

/** What comes before the call itself. Throws what it is to fail with. */
function meet(effect, syscall) {
  if (effect === 'clock-back') setClockBack();
  else if (effect === 'fill') fillDisk();
  else if (effect !== undefined) throw systemError(effect, syscall);
}

require('./watched-files.cjs')((operation, name, tear) => {
  if (operation === 'close') return;
  const effect = effectOn(operation, name === undefined ? 'other' : placeOf(name));
  if (operation === 'write' && effect in os.constants.errno) tear();
  meet(effect, operation);
});

// Statements of the journal: `insert:calls`, `update:files`, `commit:journal`.
const STATEMENT = /^\s*(?:(insert) into|(update)|(delete) from)\s+(\w+)/i;
const SQLITE = { ENOSPC: ['FULL', 13], EACCES: ['READONLY', 8], EIO: ['IOERR', 10] };
require('./sqlite-statements.cjs')((text) => {
  const [, insert, update, remove, table] = STATEMENT.exec(text) ?? [];
  const operation = text === 'commit' ? 'commit' : (insert ?? update ?? remove);
  if (operation === undefined) return;
  const effect = effectOn(operation, table ?? 'journal');
  const [name, errcode] = SQLITE[effect] ?? [];
  if (name === undefined) return meet(effect, operation);
  throw Object.assign(new Error(`${name}: injected fault, ${operation}`), { code: `SQLITE_${name}`, errcode });
});
meet(effectOn('start', 'process'), 'start');

/** @returns the exit code of the process */
function check(code) {
  const unmet = faults.filter(({ seen, which }) => seen < which);
  if (unmet.length === 0) return code;
  process.stderr.write(
    `no call ${unmet.map(({ call, which }) => `${call}:${which}`).join(', nor ')} to let go wrong\n`,
  );
  return 99;
}
// A run that succeeds has a last action of its own, which follows this listener, and then ends through `reallyExit`.
const { reallyExit } = process;
process.reallyExit = (code) => reallyExit.call(process, check(code));
process.on('exit', (code) => {
  if (code !== 0 || process.listenerCount('exit') === 0) process.exitCode = check(code);
});
