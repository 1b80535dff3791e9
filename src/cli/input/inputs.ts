import fs, { type BigIntStats, type Dirent, lstatSync, realpathSync, statSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { isAtOrBelow } from '../../bytes/folders.ts';
import { openToRead } from '../../bytes/read-file.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { existingForm, isUtf8Name, type MatchesPath, matchesAnyOf, unicodeForms } from '../../files/file-names.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { identityAt, identityOf } from '../../files/input-file.ts';
import { ONLY_IF_NAMED } from '../../formats/registry.ts';
import type { FileToSign } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';

export interface InputPath {
  readonly path: string;
  /** Path of the result below `--output`; undefined if the user named the file itself. */
  readonly pathInFolder: string | undefined;
  /** True if the file comes from a pattern, a folder or a list. */
  readonly isFound: boolean;
}

interface InputOptions {
  readonly recursive?: boolean | undefined;
  /** Patterns also exclude files that an argument names. */
  readonly exclude?: readonly string[] | undefined;
  readonly ofAnyKind?: boolean;
  /** Folder of the results, which is not searched for files. */
  readonly output?: string | undefined;
}

const TEMPORARY_FILE = /^\.codesign-remote-.*\.tmp$/;

/**
 * Returns each file once, in the order of the arguments, under its first name. Keeps a path that does not exist, so
 * that only this file fails.
 */
export async function expandInputs(
  named: readonly string[],
  options: InputOptions,
  io: Pick<Io, 'stdin'>,
): Promise<InputPath[]> {
  if (named.filter((name) => name === '-').length > 1) throw cliErrors('standard-input-twice');
  const isExcluded = await matchesAnyOf(options.exclude ?? []);
  const inputs = new Map<string, InputPath>();
  let isAnyExcluded = false;
  for (const name of named) {
    for await (const { stats, ...input } of expand(name, { ...options, isExcluded, io })) {
      if (isExcluded(input.path)) {
        isAnyExcluded = true;
        continue;
      }
      const identity = stats ? identityOf(stats) : (identityAt(input.path) ?? input.path);
      const earlier = inputs.get(identity) ?? input;
      // If another process has replaced both files, one may have received the other's inode number.
      if (earlier.path !== input.path && identityAt(earlier.path) !== identity) inputs.set(input.path, input);
      else inputs.set(identity, { ...earlier, isFound: earlier.isFound && input.isFound });
    }
  }
  if (inputs.size === 0 && isAnyExcluded) throw cliErrors('all-excluded');
  if (inputs.size === 0) throw cliErrors(options.recursive ? 'nothing-to-sign' : 'no-files');
  return [...inputs.values()];
}

interface Expanding extends InputOptions {
  readonly isExcluded: MatchesPath;
  /** Standard input is opened late, because opening it takes time. */
  readonly io: Pick<Io, 'stdin'>;
}

interface Found extends InputPath {
  readonly stats?: BigIntStats | undefined;
}

async function* expand(typed: string, options: Expanding): AsyncGenerator<Found> {
  const name = existingForm(typed);
  const stats = name === '-' ? undefined : statsOf(name, lstatSync);
  if (name === '-') {
    yield* expandLines(await readLines(options.io.stdin), options);
  } else if (stats !== undefined) {
    yield* expandLiteral(name, options, false, stats.isSymbolicLink() ? statsOf(name) : stats);
  } else if (name.startsWith('@')) {
    const lines = await readList(existingForm(name.slice(1)));
    yield* expandLines(
      lines.filter((line) => !line.startsWith('#')),
      options,
    );
  } else if (await hasMagic(name)) {
    for (const path of await expandPattern(name, options)) yield* expandLiteral(path, options, true);
  } else {
    yield { path: name, pathInFolder: undefined, isFound: false };
  }
}

async function* expandLiteral(
  path: string,
  { recursive, ofAnyKind, output, isExcluded }: Expanding,
  isFound: boolean,
  stats = statsOf(path),
): AsyncGenerator<Found> {
  if (!stats?.isDirectory()) {
    yield { path, pathInFolder: undefined, isFound, stats };
    return;
  }
  if (isExcluded(path)) return;
  if (!recursive) throw cliErrors('folder-not-recursive', { path });
  const leftOut = output && (await realpath(output).catch(() => undefined));
  for await (const file of walk(path, leftOut, isExcluded)) {
    if (!ofAnyKind && ONLY_IF_NAMED.has(extname(file).toLowerCase())) continue;
    yield { path: file, pathInFolder: relative(path, file), isFound: true };
  }
}

async function* expandLines(lines: readonly string[], options: Expanding): AsyncGenerator<Found> {
  for (const line of lines) yield* expandLiteral(existingForm(line), options, true);
}

/** Sorts names, so that every run has the same order. Does not follow links. */
async function* walk(folder: string, leftOut: string | undefined, isExcluded: MatchesPath): AsyncGenerator<string> {
  if (leftOut !== undefined && (await realpath(folder).catch(() => undefined)) === leftOut) return;
  const entries = await inFileSystem(`read the folder ${folder}`, () => readdir(folder, { withFileTypes: true }));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && isExcluded(path)) continue;
    // A folder whose name is not UTF-8 is yielded as a file, so that the error names it.
    if (entry.isDirectory() && !(await isUtf8Name(path))) yield path;
    else if (entry.isDirectory()) yield* walk(path, leftOut, isExcluded);
    else if (entry.isFile() && !TEMPORARY_FILE.test(entry.name)) yield path;
  }
}

export function resolveOutputs(inputs: readonly InputPath[], output: string | undefined): FileToSign[] {
  if (output === undefined) return inputs.map((input) => ({ ...input, output: input.path }));
  const existing = statsOf(output);
  const [only, ...others] = inputs;
  const isSingle = only !== undefined && others.length === 0 && only.pathInFolder === undefined;
  const toFolder = existing?.isDirectory() || /[/\\]$/.test(output) || !isSingle;
  if (toFolder && existing?.isFile()) throw cliErrors('output-not-a-folder', { path: output, count: inputs.length });
  return inputs.map((input) => ({
    ...input,
    output: toFolder ? join(output, input.pathInFolder ?? basename(input.path)) : output,
  }));
}

/** Synchronous: the kernel usually answers from its cache, and a thread for each file would take longer. */
function statsOf(path: string, look: typeof lstatSync = statSync): BigIntStats | undefined {
  try {
    return look(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Windows has the longest paths: 32,767 characters of up to 3 bytes. */
const LONGEST_LINE = 96 * 1024;
const LARGEST_LIST = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

async function readList(path: string): Promise<string[]> {
  try {
    await using file = await openToRead(path);
    return await readLines(file.createReadStream({ autoClose: false }));
  } catch (thrown) {
    if (thrown instanceof CodesignError) throw thrown;
    throw cliErrors('list-unreadable', { path, reason: systemReason(thrown) }, { cause: thrown });
  }
}

/**
 * Drops blank lines and the byte order mark. Throws `list-unusable` for NUL characters, and `list-too-large` before the
 * input ends, because it may be endless.
 */
export async function readLines(input: Readable): Promise<string[]> {
  const chunks: Buffer[] = [];
  let length = 0;
  let lineLength = 0;
  for await (const read of input) {
    const chunk = Buffer.from(read);
    // The output of `find -print0` contains NUL characters.
    if (chunk.includes(0)) throw cliErrors('list-unusable');
    chunks.push(chunk);
    length += chunk.length;
    lineLength = lengthOfLast(chunk, lineLength);
    if (lineLength > LONGEST_LINE)
      throw cliErrors('list-too-large', { what: `a line of more than ${LONGEST_LINE} bytes` });
    if (length > LARGEST_LIST) throw cliErrors('list-too-large', { what: `more than ${LARGEST_LIST} bytes` });
  }
  const text = Buffer.concat(chunks, length)
    .toString()
    .replace(/^\uFEFF/, '');
  return text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
}

/** `before` is the length of the part of this line in earlier chunks. */
function lengthOfLast(chunk: Buffer, before: number): number {
  const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN));
  return end < 0 ? before + chunk.length : chunk.length - 1 - end;
}

async function hasMagic(name: string): Promise<boolean> {
  if (!/[*?[\]{}()!]/.test(name)) return false;
  const { isDynamicPattern } = await import('tinyglobby');
  return isDynamicPattern(withSlashes(name));
}

/**
 * On Windows, users write backslashes in patterns, and no file name contains a backslash. The `?` of `\\?\C:` stands for
 * no character.
 */
function withSlashes(pattern: string): string {
  return sep === '\\' ? pattern.replaceAll('\\', '/').replace(/^\/\/\?\/(?=[a-z]:)/i, '') : pattern;
}

/**
 * Returns sorted paths. Links to folders are not followed, as with `**` in bash, git and rsync. Leaves out links to
 * files elsewhere, and results of an earlier run in the output folder.
 */
async function expandPattern(pattern: string, { recursive, output }: InputOptions): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const { default: picomatch } = await import('picomatch');
  const { base, glob: rest } = picomatch.scan(withSlashes(pattern));
  const folder = existingForm(base.replace(/\\(.)/g, '$1'));
  const realFolder = realPathOf(folder === '' ? '.' : `${folder}/`);
  const unread: string[] = [];
  const found = await glob([...unicodeForms(rest)], {
    cwd: realFolder,
    expandDirectories: false,
    onlyFiles: !recursive,
    dot: false,
    followSymbolicLinks: false,
    // On Windows, names and the patterns of other programs ignore case.
    caseSensitiveMatch: sep === '/',
    fs: { ...fs, readdir: readdirWithLinksBelow(realFolder, (path) => unread.push(path)) },
  });
  // A folder whose name is not UTF-8 is returned as a path, so that the error names it.
  for (const path of unread) if (!(await isUtf8Name(path))) found.push(relative(realFolder, path));
  const realOutput = output === undefined ? undefined : realPathOf(output);
  const isOutput = realOutput !== undefined && isBelow(realOutput, realFolder) && isFolder(realOutput);
  const isMeant = (path: string): boolean => !(isOutput && isAtOrBelow(realPathOf(path), realOutput));
  const matches = found.map((path) => join(folder, path)).filter(isMeant);
  if (matches.length === 0) throw cliErrors('nothing-matches', { pattern });
  return matches.sort();
}

type Callback = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** Reports a link to a file below `base` as a file. */
function readdirWithLinksBelow(base: string, onUnread: (folder: string) => void): typeof fs.readdir {
  const readdir = (folder: string, options: { readonly withFileTypes: true }, callback: Callback): void => {
    fs.readdir(folder, options, (error, entries = []) => {
      if (error) onUnread(folder);
      for (const entry of entries) {
        if (!entry.isSymbolicLink()) continue;
        const leadsTo = realPathOf(join(folder, entry.name));
        if (isBelow(leadsTo, base) && !isFolder(leadsTo)) entry.isFile = () => true;
      }
      callback(error, entries);
    });
  };
  // The crawler calls `readdir` only in this form.
  return readdir as unknown as typeof fs.readdir;
}

/** Returns the given path if it cannot be resolved. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isAtOrBelow(path, folder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
