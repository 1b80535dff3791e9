/**
 * Names that are not UTF-8. Node.js shows each byte of them that it cannot decode as U+FFFD. Such a name leads nowhere, or to
 * another file whose name really holds that character.
 */

import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { fileErrors } from './errors.ts';

const REPLACEMENT = '\ufffd';

/**
 * Throws `name-not-utf8` for a path that may stand for a name on the disk that is not UTF-8.
 *
 * @param isNew whether the path is to be created: a new name with U+FFFD is always taken for one that was not UTF-8
 */
export async function assertUtf8Name(path: string, isNew = false): Promise<void> {
  if (!path.includes(REPLACEMENT)) return;
  const whole = resolve(path);
  if (dirname(whole) !== whole) await assertUtf8Name(dirname(whole), isNew);
  const name = basename(whole);
  if (!name.includes(REPLACEMENT)) return;
  // A folder that cannot be read, or is missing, is reported where the path is opened.
  const names = await readdir(dirname(whole), { encoding: 'buffer' }).catch(() => []);
  const isMangled = names.some((bytes) => !isUtf8(bytes) && joined(bytes.toString()) === joined(name));
  const isThere = names.some((bytes) => bytes.equals(Buffer.from(name)));
  if (isMangled || (isNew && !isThere)) throw fileErrors('name-not-utf8', { name });
}

/** Whether `assertUtf8Name` would throw. */
export async function isUtf8Name(path: string): Promise<boolean> {
  return assertUtf8Name(path).then(
    () => true,
    () => false,
  );
}

/** Decoders differ in how many characters they put in place of several bytes. */
function joined(name: string): string {
  return name.replace(/\ufffd+/g, REPLACEMENT);
}
