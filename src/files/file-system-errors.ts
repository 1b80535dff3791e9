import { readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodesignError } from '../errors/codesign-error.ts';
import { didYouMean } from '../options/suggest.ts';
import { fileErrors } from './errors.ts';
import { unicodeForms } from './file-names.ts';

/** `doing` follows the words "no permission to" in the message. */
export function fromFileSystem(thrown: unknown, doing: string): unknown {
  if (thrown instanceof CodesignError || !isSystemError(thrown)) return thrown;
  const cause = { cause: thrown };
  switch (thrown.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return fileErrors('file-not-found', { suggestion: suggestionFor(thrown.path) }, cause);
    case 'ELOOP':
      return fileErrors('link-loop', { doing }, cause);
    case 'EISDIR':
      return fileErrors('not-a-file', { kind: 'a folder' }, cause);
    case 'EACCES':
    case 'EPERM':
      return fileErrors('permission-denied', { doing }, cause);
    case 'ENOSPC':
    case 'EDQUOT':
      return fileErrors('disk-full', { doing }, cause);
    case 'EBUSY':
    case 'ETXTBSY':
      return fileErrors('file-busy', { doing }, cause);
    default:
      return fileErrors('file-system', { doing, reason: thrown.message }, cause);
  }
}

/** Suggests a similar name, or the type of slash that this system uses. */
function suggestionFor(path: string | undefined): string {
  if (path === undefined) return '';
  if (sep === '/' && path.includes('\\')) return `Did you mean ${path.replaceAll('\\', '/')}? `;
  try {
    const names = readdirSync(dirname(path));
    if (names.some((name) => unicodeForms(basename(path)).includes(name)))
      return 'The folder has a file with this name in another Unicode form (NFC or NFD). ';
    return didYouMean(basename(path), names);
  } catch {
    return '';
  }
}

export async function inFileSystem<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw fromFileSystem(thrown, doing);
  }
}

const BUSY_WAITS_MILLISECONDS = [20, 50, 100, 250, 500, 1000];

interface Patience {
  readonly platform: NodeJS.Platform;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** Retries for two seconds, because another program, such as a virus scanner, may have the file open. */
export async function retryWhileBusy<T>(
  doing: string,
  work: () => Promise<T>,
  patience: Patience = { platform: process.platform, sleep },
): Promise<T> {
  for (const wait of BUSY_WAITS_MILLISECONDS) {
    try {
      return await work();
    } catch (thrown) {
      if (!isBusy(thrown, patience)) throw fromFileSystem(thrown, doing);
      await patience.sleep(wait);
    }
  }
  return inFileSystem(doing, work);
}

/** Windows reports EPERM or EACCES for a file that another program has open. */
function isBusy(thrown: unknown, { platform }: Patience): boolean {
  if (!isSystemError(thrown)) return false;
  return thrown.code === 'EBUSY' || (platform === 'win32' && (thrown.code === 'EPERM' || thrown.code === 'EACCES'));
}

/** Returns `broken-link` if the path is a link whose target is missing. The message shows `link` as the path. */
export function orBrokenLink(thrown: unknown, path: string, link: string): unknown {
  const isMissing = isSystemError(thrown) && thrown.code === 'ENOENT';
  const leadsTo = isMissing ? linkAt(path) : undefined;
  return leadsTo === undefined ? thrown : fileErrors('broken-link', { link, leadsTo }, { cause: thrown });
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isSystemError(thrown: unknown): thrown is NodeJS.ErrnoException {
  return thrown instanceof Error && typeof (thrown as NodeJS.ErrnoException).code === 'string' && 'syscall' in thrown;
}
