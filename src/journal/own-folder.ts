/** Folders of the journal, entered one below the other: each must be this user's alone, and no link is followed. */

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { foreignLink, isTrustedOwner } from '../bytes/trusted-paths.ts';
import { hasCode } from '../errors/system-reason.ts';

/** The error code of what the journal refuses: a link, something that is no file, something that is not this user's. */
export const REFUSED = 'REFUSED';

/** Permission bits of group and others. */
const WRITABLE_BY_OTHERS = 0o022;

/** Windows has neither of these flags, nor a descriptor of a folder. */
const FOLDER_ITSELF = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);

const DESCRIPTORS = '/proc/self/fd';

export interface OwnFolder extends Disposable {
  /** Leads to this very folder until it is disposed of, whatever becomes of its name meanwhile. */
  readonly path: string;
}

/** A system error, so that it gets the journal's code where all of those do. `problem`: of the path, as in "is a link". */
export function refusal(path: string, problem: string): Error {
  return Object.assign(new Error(`${path} ${problem}`), { code: REFUSED });
}

/**
 * Enters `folder`, which is `root` or below it. `root` itself may be reached through a link of this user or of root.
 * Throws what the system throws, and `refusal`.
 */
export function enterFolder(root: string, folder: string): OwnFolder {
  let entered = enterOne(root, root, true);
  let shown = root;
  for (const name of relative(root, folder).split(sep)) {
    if (name === '') continue;
    using above = entered;
    shown = join(shown, name);
    entered = enterOne(join(above.path, name), shown, false);
  }
  return entered;
}

function enterOne(path: string, shown: string, isRoot: boolean): OwnFolder {
  // Only Linux leads from a descriptor into its folder. Elsewhere the path is checked, then used again.
  if (process.platform !== 'linux' || !existsSync(DESCRIPTORS)) {
    checkFolder(shown, isRoot ? statSync(path) : lstatSync(path));
    return { path, [Symbol.dispose]: () => undefined };
  }
  const fd = openFolder(path, shown, isRoot);
  try {
    checkFolder(shown, fstatSync(fd));
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
  return { path: `${DESCRIPTORS}/${fd}`, [Symbol.dispose]: () => closeSync(fd) };
}

function openFolder(path: string, shown: string, isRoot: boolean): number {
  try {
    return openSync(path, isRoot ? FOLDER : FOLDER_ITSELF);
  } catch (thrown) {
    // Of a link Linux says ENOTDIR, other systems ELOOP.
    if (!isRoot && hasCode(thrown, 'ENOTDIR', 'ELOOP')) throw refusal(shown, 'is a link or not a folder');
    throw thrown;
  }
}

/** A sticky folder (mode 1777) is refused too: it keeps others from removing files, not from creating them. */
function checkFolder(shown: string, stats: Stats): void {
  if (!stats.isDirectory()) throw refusal(shown, 'is a link or not a folder');
  assertOwned(shown, stats);
  // Windows does not know such bits.
  if (process.geteuid === undefined || (stats.mode & WRITABLE_BY_OTHERS) === 0) return;
  const mode = (stats.mode & 0o7777).toString(8);
  throw refusal(shown, `may be written by other users (mode ${mode}): chmod 700 makes it private`);
}

/** This user's, or root's. */
export function assertOwned(shown: string, { uid }: Stats): void {
  if (!isTrustedOwner(uid)) throw refusal(shown, 'belongs to another user');
}

/** Refuses a link of another user on the way, also behind links of this one. */
export function assertOwnLinks(folder: string): void {
  const link = foreignLink(folder);
  if (link !== undefined) throw refusal(link, 'is a link of another user');
}
