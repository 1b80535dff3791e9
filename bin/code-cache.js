// Compiled code of earlier runs, a file for each command: a third of the time until a small program is signed is compiling.
// It is kept where only this user writes, and used only if nobody else could have written it, whole, of these sources, and
// by this very Node: V8 takes what another build of the same version has compiled, and crashes.
'use strict';

const { createHash, randomBytes } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const v8 = require('node:v8');

const DIGEST_LENGTH = 32;
/** What V8 has compiled is kept as it is in the end, and kept anew when a run has compiled this much more than an earlier one. */
const MUCH_MORE = 1.1;
/** Of other versions and installations; each has files of its own. */
const KEPT_DAYS = 30;
const FILE = /^[a-z]+-[0-9a-f]{16}\.bin(\.[0-9a-f]{12})?$/;

/**
 * @param command names the file; lower-case letters
 * @returns `of` gives the compiled code of a file's source, `note` is told of each script, `save` keeps what was not kept yet.
 *   Undefined where nothing is to be kept, as Node's own cache is told (NODE_DISABLE_COMPILE_CACHE).
 */
exports.openCodeCache = (command) => {
  const caches = process.env.NODE_DISABLE_COMPILE_CACHE ? undefined : attempt(folderOfCaches);
  const program = attempt(thisProgram);
  if (caches === undefined || program === undefined) return undefined;
  const folder = path.join(caches, 'codesign-remote', 'code');
  const file = path.join(folder, `${command}-${program}.bin`);
  const kept = read(folder, file);
  const noted = [];
  const save = () => {
    const compiled = v8.getHeapCodeStatistics().bytecode_and_metadata_size;
    if (!noted.some(({ isNew }) => isNew) && compiled < kept.compiled * MUCH_MORE) return;
    const scripts = new Map([...kept.scripts].filter(([name]) => fs.existsSync(name)));
    for (const { name, source, script } of noted) {
      scripts.set(name, { digest: digestOf(name, source), code: script.createCachedData() });
    }
    if (!mayKeepIn(folder)) return;
    write(file, { compiled, scripts });
    removeOld(folder);
  };
  return {
    of(name, source) {
      const found = kept.scripts.get(name);
      return found?.digest === digestOf(name, source) ? found.code : undefined;
    },
    note(name, source, script) {
      noted.push({ name, source, script, isNew: script.cachedDataRejected !== false });
    },
    // A disk that is full or cannot be written, another run that is at the same: it runs as well without.
    save: () => void attempt(save),
  };
};

/** Undefined for a user without an entry and without HOME, as containers have. What is in the working folder may be anybody's. */
function folderOfCaches() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (XDG_CACHE_HOME) return absolute(XDG_CACHE_HOME);
  if (process.platform === 'win32' && LOCALAPPDATA) return absolute(LOCALAPPDATA);
  const home = absolute(os.homedir());
  return home && path.join(home, '.cache');
}

function absolute(folder) {
  return path.isAbsolute(folder) ? folder : undefined;
}

/** This Node, as it is on the disk, its flags, and where this program is. */
function thisProgram() {
  const { size, mtimeMs } = fs.statSync(process.execPath);
  const node = [process.version, process.arch, process.versions.v8, v8.cachedDataVersionTag(), size, mtimeMs];
  return createHash('sha256')
    .update(JSON.stringify([...node, process.execPath, __dirname]))
    .digest('hex')
    .slice(0, 16);
}

/** V8 itself compares no more than the length of a source; the name is in compiled code, too. */
function digestOf(name, source) {
  return createHash('sha256').update(`${name}\n`).update(source, 'latin1').digest('base64');
}

/** @returns bytes compiled in all, and by name the digest of a source and its compiled code. Nothing where none can be trusted. */
function read(folder, file) {
  return attempt(() => parse(isOurs(fs.lstatSync(folder)) && readOurs(file))) ?? { compiled: 0, scripts: new Map() };
}

/** Throws for what is not whole. */
function parse(bytes) {
  const content = bytes.subarray(DIGEST_LENGTH);
  if (createHash('sha256').update(content).digest().compare(bytes, 0, DIGEST_LENGTH) !== 0) return undefined;
  const end = content.indexOf('\n');
  const { compiled, scripts } = JSON.parse(content.subarray(0, end).toString());
  const found = new Map();
  let at = end + 1;
  for (const { name, digest, length } of scripts) {
    found.set(name, { digest, code: content.subarray(at, at + length) });
    at += length;
  }
  return { compiled, scripts: found };
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

/** Code is run as whoever reads it: nobody else may have written it. Windows keeps a user's caches from others by itself. */
function isOurs({ uid, mode }) {
  return isThisUser(uid) && (process.platform === 'win32' || (mode & 0o022) === 0);
}

function isThisUser(uid) {
  return process.getuid === undefined || uid === process.getuid();
}

/** Makes it, unless it would be in a folder of another user: who runs this as root has his caches still. */
function mayKeepIn(folder) {
  let existing = folder;
  while (!fs.existsSync(existing)) existing = path.dirname(existing);
  if (!isThisUser(fs.statSync(existing).uid)) return false;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isOurs(fs.lstatSync(folder));
}

function write(file, { compiled, scripts }) {
  const all = [...scripts];
  const head = { compiled, scripts: all.map(([name, { digest, code }]) => ({ name, digest, length: code.length })) };
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...all.map(([, { code }]) => code)]);
  const digest = createHash('sha256').update(content).digest();
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    fs.writeFileSync(temporary, Buffer.concat([digest, content]), { mode: 0o600, flag: 'wx' });
    fs.renameSync(temporary, file);
  } catch (failure) {
    fs.rmSync(temporary, { force: true });
    throw failure;
  }
}

function removeOld(folder) {
  const oldest = Date.now() - KEPT_DAYS * 24 * 60 * 60 * 1000;
  for (const name of fs.readdirSync(folder).filter((one) => FILE.test(one))) {
    const file = path.join(folder, name);
    if (fs.lstatSync(file).mtimeMs < oldest) fs.rmSync(file, { force: true });
  }
}

/** Undefined where it throws. */
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
