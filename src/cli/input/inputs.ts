/** The files a command line means: paths, patterns, folders, @lists and standard input, each file once, in the order given. */

import { type BigIntStats, statSync } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { isUtf8Name } from '../../files/utf8-names.ts';
import { identityOf } from '../../signing/files/same-file.ts';
import { cliErrors } from '../errors.ts';
import { excludedBy, type IsExcluded } from './excluded.ts';
import { readLines, readList } from './list-lines.ts';
import { expandPattern, hasMagic } from './pattern.ts';

export interface InputPath {
  /** As the user gave it, or as it was found. */
  readonly path: string;
  /** Where it belongs below an output folder: found in a folder, its place there; else undefined. */
  readonly placeInFolder: string | undefined;
}

export interface InputOptions {
  readonly recursive: boolean;
  /** Patterns of what is left out, however it was named. */
  readonly exclude?: readonly string[] | undefined;
  /** Opened only when it is read. */
  readonly stdin: () => Readable;
  /** Where results go: what an earlier run left there is not found in a folder again. */
  readonly outputFolder: string | undefined;
}

/** Of another run, or left behind by one that was killed, and never something to sign. */
const TEMPORARY_FILE = /^\.codesign-remote-.*\.(tmp|lock)$/;

/**
 * Throws errors of category usage for what cannot be meant; a plain path that is missing is kept, to fail by itself.
 * A file with several names (links of either kind) is taken under the first one.
 */
export async function expandInputs(named: readonly string[], options: InputOptions): Promise<InputPath[]> {
  if (named.filter((name) => name === '-').length > 1) throw cliErrors('standard-input-twice');
  const isExcluded = await excludedBy(options.exclude ?? []);
  const seen = new Set<string>();
  const inputs: InputPath[] = [];
  let isAnyExcluded = false;
  for (const name of named) {
    for await (const input of expand(name, { ...options, isExcluded })) {
      if (isExcluded(input.path)) {
        isAnyExcluded = true;
        continue;
      }
      const stats = statsOf(input.path);
      const identity = stats === undefined ? input.path : identityOf(stats);
      if (seen.has(identity)) continue;
      seen.add(identity);
      inputs.push(input);
    }
  }
  if (inputs.length === 0 && isAnyExcluded) throw cliErrors('all-excluded');
  if (inputs.length === 0) throw cliErrors(options.recursive ? 'nothing-to-sign' : 'no-files');
  return inputs;
}

interface Expanding extends InputOptions {
  readonly isExcluded: IsExcluded;
}

async function* expand(name: string, options: Expanding): AsyncGenerator<InputPath> {
  if (name === '-') {
    yield* expandLines(await readLines(options.stdin()), options);
  } else if (await exists(name)) {
    yield* expandLiteral(name, options);
  } else if (name.startsWith('@')) {
    yield* expandLines(await readList(name.slice(1)), options);
  } else if (await hasMagic(name)) {
    for (const path of await expandPattern(name, options)) yield* expandLiteral(path, options);
  } else {
    yield { path: name, placeInFolder: undefined };
  }
}

/** A path that exists, or one out of a list: never a pattern. */
async function* expandLiteral(
  path: string,
  { recursive, outputFolder, isExcluded }: Expanding,
): AsyncGenerator<InputPath> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isDirectory()) {
    yield { path, placeInFolder: undefined };
    return;
  }
  if (isExcluded(path)) return;
  if (!recursive) throw cliErrors('folder-not-recursive', { path });
  const leftOut = outputFolder && (await realpath(outputFolder).catch(() => undefined));
  for await (const file of walk(path, leftOut, isExcluded)) yield { path: file, placeInFolder: relative(path, file) };
}

async function* expandLines(lines: readonly string[], options: Expanding): AsyncGenerator<InputPath> {
  for (const line of lines) yield* expandLiteral(line, options);
}

/** Files below a folder, sorted by name so that two runs do the same; links are not followed. */
async function* walk(folder: string, leftOut: string | undefined, isExcluded: IsExcluded): AsyncGenerator<string> {
  if (leftOut !== undefined && (await realpath(folder).catch(() => undefined)) === leftOut) return;
  const entries = await inFileSystem(`read the folder ${folder}`, () => readdir(folder, { withFileTypes: true }));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    // An excluded file is told by who asked; an excluded folder is not even read.
    if (entry.isDirectory() && isExcluded(path)) continue;
    // One that cannot be read by its name is an input that fails, with that name.
    if (entry.isDirectory() && !(await isUtf8Name(path))) yield path;
    else if (entry.isDirectory()) yield* walk(path, leftOut, isExcluded);
    else if (entry.isFile() && !TEMPORARY_FILE.test(entry.name)) yield path;
  }
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
