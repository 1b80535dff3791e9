import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, resolve, win32 } from 'node:path';
import { fileErrors } from './errors.ts';

/**
 * What Node.js shows for each byte of a name that is not UTF-8. Such a name leads nowhere, or to another file whose name really
 * holds that character.
 */
const REPLACEMENT = '\ufffd';

/**
 * Throws `name-not-utf8` for a path that may stand for a name on the disk that is not UTF-8.
 *
 * @param isNew whether the path is to be created: a new name with U+FFFD always counts as one that was not UTF-8
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

/** The ways to write a letter with an accent: one character, as most keyboards do, or two, as macOS does in names of files. */
export function unicodeForms(text: string): readonly string[] {
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD')])];
}

/** The path in the Unicode form in which it exists. */
export function existingForm(path: string): string {
  const forms = unicodeForms(path);
  return forms.length === 1 ? path : (forms.find((form) => existsSync(form)) ?? path);
}

/** Decoders differ in how many characters they put in place of several bytes. */
function joined(name: string): string {
  return name.replace(/\ufffd+/g, REPLACEMENT);
}

/** Devices that exist in every folder, with any extension and any spaces before it. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *(?:[.:].*)?)$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows rejects them in names.
const REJECTED = /[<>:"|?*\u0000-\u001f]/;

/**
 * Says why Windows would not write a file of this path under its own name; undefined if it would. Covers every component
 * after the drive, the share or the prefix `\\?\`. Source: Microsoft, "Naming Files, Paths, and Namespaces".
 */
export function windowsNameProblem(path: string): string | undefined {
  const { root } = win32.parse(path);
  for (const name of path.slice(root.length).split(/[/\\]/)) {
    if (name === '' || name === '.' || name === '..') continue;
    if (DEVICE.test(name)) return `"${name}" is the name of a device`;
    if (REJECTED.test(name)) return `"${name}" has a character that Windows does not allow in names`;
    if (/[. ]$/.test(name)) return `Windows drops the dot or space at the end of "${name}"`;
  }
  return undefined;
}
