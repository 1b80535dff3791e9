// Compiled code of earlier runs, a file for each command: a third of the time until a small program is signed is compiling.
// It is kept where only this user writes, and used only if nobody else could have written it, whole and of these sources.
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const v8 = require('node:v8');

const DIGEST_LENGTH = 32;
/** What V8 has compiled is kept as it is in the end, and kept anew when a run has compiled this much more than an earlier one. */
const MUCH_MORE = 1.1;
/** Of other versions of Node, or of its options; each has files of its own. */
const KEPT_DAYS = 30;

/**
 * @param command names the file
 * @returns `of` gives the compiled code of a file's source, `note` is told of each script, `save` keeps what was not kept yet.
 *   Undefined where nothing is to be kept, as Node's own cache is told (NODE_DISABLE_COMPILE_CACHE).
 */
exports.openCodeCache = (command) => {
  if (process.env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const folder = folderOfCaches();
  if (folder === undefined) return undefined;
  const file = path.join(folder, `${command}-${v8.cachedDataVersionTag().toString(16)}.bin`);
  const kept = read(folder, file);
  const noted = [];
  return {
    of(name, source) {
      const found = kept.scripts.get(name);
      return found?.digest === digestOf(name, source) ? found.code : undefined;
    },
    note(name, source, script) {
      noted.push({ name, source, script, isNew: script.cachedDataRejected !== false });
    },
    save() {
      const compiled = v8.getHeapCodeStatistics().bytecode_and_metadata_size;
      if (!noted.some(({ isNew }) => isNew) && compiled < kept.compiled * MUCH_MORE) return;
      for (const { name, source, script } of noted) {
        kept.scripts.set(name, { digest: digestOf(name, source), code: script.createCachedData() });
      }
      // A disk that is full or cannot be written, another run that is at the same: it runs as well without.
      const temporary = `${file}.${process.pid}`;
      if (!succeeds(() => write(folder, temporary, { ...kept, compiled }) && fs.renameSync(temporary, file))) {
        succeeds(() => fs.rmSync(temporary, { force: true }));
      }
      succeeds(() => removeOld(folder));
    },
  };
};

/** Undefined for a user without an entry and without HOME, as containers have. */
function folderOfCaches() {
  try {
    const caches = process.env.XDG_CACHE_HOME || process.env.LOCALAPPDATA || path.join(os.homedir(), '.cache');
    return path.join(caches, 'codesign-remote', 'code');
  } catch {
    return undefined;
  }
}

/** V8 itself compares no more than the length of a source; the name is in compiled code, too. */
function digestOf(name, source) {
  return createHash('sha256').update(`${name}\n`).update(source, 'latin1').digest('base64');
}

/** @returns bytes compiled in all, and by name the digest of a source and its compiled code. Nothing where none can be trusted. */
function read(folder, file) {
  const nothing = { compiled: 0, scripts: new Map() };
  try {
    const bytes = isOurs(fs.lstatSync(folder)) && readOurs(file);
    if (!bytes) return nothing;
    const content = bytes.subarray(DIGEST_LENGTH);
    if (createHash('sha256').update(content).digest().compare(bytes, 0, DIGEST_LENGTH) !== 0) return nothing;
    const end = content.indexOf('\n');
    const { compiled, scripts } = JSON.parse(content.subarray(0, end).toString());
    const found = new Map();
    let at = end + 1;
    for (const { name, digest, length } of scripts) {
      found.set(name, { digest, code: content.subarray(at, at + length) });
      at += length;
    }
    return { compiled, scripts: found };
  } catch {
    return nothing; // None yet, or none that may be read.
  }
}

/** Code is run as whoever reads it: nobody else may have written it. Windows keeps a user's caches from others by itself. */
function isOurs({ uid, mode }) {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Looked at and read as the same file, whatever becomes of its name meanwhile. */
function readOurs(file) {
  const opened = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    return isOurs(fs.fstatSync(opened)) ? fs.readFileSync(opened) : undefined;
  } finally {
    fs.closeSync(opened);
  }
}

function succeeds(work) {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** @returns whether it may be kept here */
function write(folder, file, { compiled, scripts }) {
  const all = [...scripts];
  const head = { compiled, scripts: all.map(([name, { digest, code }]) => ({ name, digest, length: code.length })) };
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...all.map(([, { code }]) => code)]);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isOurs(fs.lstatSync(folder))) return false;
  const digest = createHash('sha256').update(content).digest();
  fs.writeFileSync(file, Buffer.concat([digest, content]), { mode: 0o600, flag: 'wx' });
  return true;
}

function removeOld(folder) {
  const oldest = Date.now() - KEPT_DAYS * 24 * 60 * 60 * 1000;
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    if (/\.bin(\.\d+)?$/.test(name) && fs.lstatSync(file).mtimeMs < oldest) fs.rmSync(file, { force: true });
  }
}
