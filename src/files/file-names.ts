import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, relative, resolve, sep, win32 } from 'node:path';
import { fileErrors } from './errors.ts';

/** Node.js replaces each invalid byte of a file name with this character. The path may then lead to another file. */
const REPLACEMENT = '\ufffd';

/** Throws `name-not-utf8` if the path may stand for a file name that is not valid UTF-8. */
export async function assertUtf8Name(path: string, isNew = false): Promise<void> {
  if (!path.includes(REPLACEMENT)) return;
  const whole = resolve(path);
  if (dirname(whole) !== whole) await assertUtf8Name(dirname(whole), isNew);
  const name = basename(whole);
  if (!name.includes(REPLACEMENT)) return;
  // Opening the path later reports a folder that is missing or unreadable.
  const names = await readdir(dirname(whole), { encoding: 'buffer' }).catch(() => []);
  const isMangled = names.some((bytes) => !isUtf8(bytes) && joined(bytes.toString()) === joined(name));
  const isThere = names.some((bytes) => bytes.equals(Buffer.from(name)));
  if (isMangled || (isNew && !isThere)) throw fileErrors('name-not-utf8', { name });
}

export async function isUtf8Name(path: string): Promise<boolean> {
  return assertUtf8Name(path).then(
    () => true,
    () => false,
  );
}

/** An accented letter is one character in NFC, which most keyboards produce, and two in NFD, which macOS writes. */
export function unicodeForms(text: string): readonly string[] {
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD')])];
}

export function existingForm(path: string): string {
  const forms = unicodeForms(path);
  return forms.length === 1 ? path : (forms.find((form) => existsSync(form)) ?? path);
}

/** Decoders produce different numbers of replacement characters for the same invalid bytes. */
function joined(name: string): string {
  return name.replace(/\ufffd+/g, REPLACEMENT);
}

/** Names of Windows devices exist in every folder, with any extension, and with spaces before the extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *(?:[.:].*)?)$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows rejects them in names.
const REJECTED = /[<>:"|?*\u0000-\u001f]/;

/** Returns the reason why Windows cannot create a file with this path ("Naming Files, Paths, and Namespaces"). */
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

export type MatchesPath = (path: string) => boolean;

/**
 * Patterns work as in .gitignore: a pattern without a slash matches names in every folder, and a pattern for a folder
 * matches its content. A pattern with a slash matches absolute paths, or paths relative to the working folder.
 */
export async function matchesAnyOf(patterns: readonly string[]): Promise<MatchesPath> {
  if (patterns.length === 0) return () => false;
  const { default: picomatch } = await import('picomatch');
  const portable = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/')).normalize('NFC');
  const tests = patterns.map((pattern) => {
    const written = portable(pattern).replace(/^\.\//, '').replace(/\/$/, '');
    const isMatch = picomatch([written, `${written}/**`], { dot: true, windows: false, nocase: sep !== '/' });
    if (!written.includes('/'))
      return (path: string) =>
        portable(path)
          .split('/')
          .some((name) => isMatch(name));
    return (path: string) => isMatch(portable(relative('', path))) || isMatch(portable(resolve(path)));
  });
  return (path) => tests.some((test) => test(path));
}
