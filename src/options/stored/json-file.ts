/** A settings file: read in bounds, accepted only from those who may decide, and parsed with a location for every error. */

import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { readHandleUpTo } from '../../bytes/read-file.ts';
import { printable } from '../../errors/printable.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { settingsErrors } from '../errors.ts';

/** Hundreds of settings fit in; what is larger is another file. */
const LARGEST_FILE = 256 * 1024;
export const WRITABLE_BY_ANYBODY = 0o002;
/** Opening a pipe would wait for a writer. Windows has no such flag. */
const AT_ONCE = constants.O_NONBLOCK ?? 0;

export type JsonObject = Readonly<Record<string, unknown>>;

export interface JsonFileOptions {
  /** Whether root takes a file of a user for whom it works. */
  readonly rootTakesAny: boolean;
}

/**
 * Undefined when there is no such file. Throws `settings-file-unreadable`, `settings-file-exposed`,
 * `settings-file-damaged`; none quotes the content, which may be anything that a link leads to.
 */
export async function readJsonFile(path: string, options: JsonFileOptions): Promise<JsonObject | undefined> {
  const read = await readText(path);
  if (read === undefined) return undefined;
  checkOwner(path, read.stats, options);
  return parse(path, read.text);
}

async function readText(path: string): Promise<{ readonly text: string; readonly stats: Stats } | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | AT_ONCE);
    const stats = await file.stat();
    if (!stats.isFile()) throw Object.assign(new Error('no file'), { code: stats.isDirectory() ? 'EISDIR' : 'ENXIO' });
    return { stats, text: (await readHandleUpTo(file, LARGEST_FILE)).toString() };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const reason = code === 'ENXIO' ? 'it is not a file' : systemReason(cause);
    throw settingsErrors('settings-file-unreadable', { path, reason }, { cause });
  }
}

/**
 * Root's files are as good as one's own. Writing by the group is no reason to refuse: where each user has a group of his
 * own, that is how files are made.
 */
function checkOwner(path: string, { mode, uid }: Stats, { rootTakesAny }: JsonFileOptions): void {
  const user = process.getuid?.();
  // Windows knows neither such owners nor such bits.
  if (user === undefined) return;
  const isForeign = uid !== user && uid !== 0 && !(rootTakesAny && user === 0);
  if (isForeign) throw settingsErrors('settings-file-exposed', { path, problem: 'belongs to another user' });
  if ((mode & WRITABLE_BY_ANYBODY) !== 0) {
    throw settingsErrors('settings-file-exposed', { path, problem: 'may be written by every user' });
  }
}

function parse(path: string, content: string): JsonObject {
  const text = content.replace(/^\uFEFF/, '');
  const damaged = (problem: string) => settingsErrors('settings-file-damaged', { path, problem });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column } = locateFault(text);
    throw damaged(text.trim() === '' ? 'is empty' : `is not JSON from line ${line}, column ${column}`);
  }
  if (!isObject(value)) throw damaged('holds no JSON object');
  return value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A key as it stands in a file from outside, for messages. */
export function shownKey(key: string): string {
  return printable(key, 64);
}

/** What stands at the place where a value, a name or a separator was expected. */
const STRING = /"(?:[^"\\\p{Cc}]|\u{7f}|[\u{80}-\u{9f}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/uy;
const BLANK = /[ \t\r\n]*/uy;

/** Lines and columns count from 1. For a text that `JSON.parse` has refused. */
export function locateFault(text: string) {
  const before = text.slice(0, faultIn(text)).split(/\r\n|\r|\n/);
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}

/** A walk without recursion: the author of the text decides how deep it is nested. */
function faultIn(text: string): number {
  const open: ('{' | '[')[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const takeMark = (mark: string): boolean => {
    take(BLANK);
    const found = text[at] === mark;
    if (found) at += 1;
    return found;
  };
  const takeName = (): boolean => {
    take(BLANK);
    return take(STRING) && takeMark(':');
  };

  for (;;) {
    // A value is expected.
    if (takeMark('{')) {
      if (!takeMark('}')) {
        if (!takeName()) return at;
        open.push('{');
        continue;
      }
    } else if (takeMark('[')) {
      if (!takeMark(']')) {
        open.push('[');
        continue;
      }
    } else if (!take(STRING) && !take(SCALAR)) {
      return at;
    }
    // A value has ended; what it stands in may end with it.
    while (open.length > 0 && takeMark(open.at(-1) === '{' ? '}' : ']')) open.pop();
    if (open.length === 0 || !takeMark(',')) return skipSpaces(text, at);
    if (open.at(-1) === '{' && !takeName()) return at;
  }
}

function skipSpaces(text: string, at: number): number {
  BLANK.lastIndex = at;
  BLANK.test(text);
  return BLANK.lastIndex;
}
