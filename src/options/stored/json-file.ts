import type { Stats } from 'node:fs';
import { openToRead, readHandleUpTo } from '../../bytes/read-file.ts';
import { printable } from '../../errors/printable.ts';
import { hasCode, systemReason } from '../../errors/system-reason.ts';
import { settingsErrors } from '../errors.ts';

const LARGEST_FILE = 256 * 1024;
export const WRITABLE_BY_ANYBODY = 0o002;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * With `rootTakesAny`, root also accepts files of the user who started the program with sudo. Errors never quote the
 * content, because a link may lead to any file.
 */
export async function readJsonFile(
  path: string,
  { rootTakesAny }: { readonly rootTakesAny: boolean },
): Promise<JsonObject | undefined> {
  const read = await readText(path);
  if (read === undefined) return undefined;
  checkOwner(path, read.stats, rootTakesAny);
  return parse(path, read.text);
}

async function readText(path: string): Promise<{ readonly text: string; readonly stats: Stats } | undefined> {
  try {
    await using file = await openToRead(path);
    return { stats: await file.stat(), text: (await readHandleUpTo(file, LARGEST_FILE)).toString() };
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    const reason = hasCode(cause, 'ENXIO') ? 'it is not a file' : systemReason(cause);
    throw settingsErrors('settings-file-unreadable', { path, reason }, { cause });
  }
}

/** Accepts a file that its group may write to, the default on systems with private groups. */
function checkOwner(path: string, { mode, uid }: Stats, rootTakesAny: boolean): void {
  const user = process.getuid?.();
  // On Windows, files have no numeric owner and no permission bits.
  if (user === undefined) return;
  const isForeign = uid !== user && uid !== 0 && !(rootTakesAny && user === 0);
  if (isForeign) throw settingsErrors('settings-file-exposed', { path, problem: 'belongs to another user' });
  if ((mode & WRITABLE_BY_ANYBODY) !== 0) {
    throw settingsErrors('settings-file-exposed', { path, problem: 'may be changed by every user' });
  }
}

function parse(path: string, content: string): JsonObject {
  const text = content.replace(/^\uFEFF/, '');
  const damaged = (problem: string) => settingsErrors('settings-file-damaged', { path, problem });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw damaged(text.trim() === '' ? 'is empty' : `is not JSON${locate(thrown, text)}`);
  }
  if (!isObject(value)) throw damaged('does not contain a JSON object');
  return value;
}

/** The rest of the message of `JSON.parse` quotes the content. */
function locate(thrown: unknown, text: string): string {
  const [, position] = / JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(String(thrown)) ?? [];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` from line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shownKey(key: string): string {
  return printable(key, 64);
}
