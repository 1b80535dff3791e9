// How the rows call the program, and with which versions of Node.js.
import { randomBytes } from 'node:crypto';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { least, ratioOf } from '../measure.mjs';
import { makePrograms } from '../stand-in.mjs';

export const CLI = fileURLToPath(new URL('../../../bin/codesign-remote.js', import.meta.url));
export const floor = (name) => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));

/** The version that rows with a single version of Node.js use, if it is there. */
const MEASURE = '22';

/** The one that runs this, and those below CODESIGN_TEST_NODES (24/node_modules/.bin/node and so on); MEASURE comes first. */
export function nodes() {
  const folder = process.env.CODESIGN_TEST_NODES;
  const others =
    folder === undefined
      ? []
      : readdirSync(folder).map((version) => join(folder, version, 'node_modules', '.bin', 'node'));
  const [own] = process.versions.node.split('.');
  const all = [
    { version: own, path: process.execPath },
    ...others.filter(existsSync).map((path) => ({ version: path.split('/').at(-4), path })),
  ];
  return all.sort((a, b) => Number(b.version === MEASURE) - Number(a.version === MEASURE));
}

/** The rows with this version of Node.js. */
export const rowsWith =
  (node) =>
  (work, of, most, measure, unit = '×') => ({ work, of, node, most, unit, measure });

let runs = 0;

/** A folder for one run, with so many programs, state and results: a file system that removed files makes new ones slowly. */
export function freshRun(folder, env, files) {
  const own = join(folder, `run-${++runs}`);
  mkdirSync(join(own, 'state'), { recursive: true, mode: 0o700 });
  const caches = join(folder, 'caches');
  return {
    programs: makePrograms(join(own, 'programs'), files),
    env: { ...env, CODESIGN_STATE_DIR: join(own, 'state'), XDG_CACHE_HOME: caches },
  };
}

export const signInPlace = (node, programs) => [node, CLI, 'sign', '-q', '-j', '16', '--no-timestamp', ...programs];

/** A program with random bytes after it, as an installer has. */
export function makeLarge(path, bytes) {
  copyFileSync(fileURLToPath(new URL('../../../fixtures/pe/hello.exe', import.meta.url)), path);
  const chunk = randomBytes(1024 * 1024);
  const file = openSync(path, 'a');
  for (let left = bytes - statSync(path).size; left > 0; left -= chunk.length) {
    writeSync(file, chunk, 0, Math.min(left, chunk.length));
  }
  closeSync(file);
  return path;
}

/** What a row reports of two contestants that ran in turn. */
export function compared(ours, theirs, what) {
  const { ratio, ofRounds } = ratioOf(ours, theirs, what);
  return { result: ratio, ofRounds, ours: least(ours, what), theirs: least(theirs, what) };
}
