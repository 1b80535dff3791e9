/** Looks for credentials where they must not be, in every form in which they might have got there. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface KnownCredentials {
  readonly accessKey: string;
  readonly accessSecret: string;
}

/** By what it is called. */
export type Forms = ReadonlyMap<string, Buffer>;

/** What is shorter stands in any file by chance, or is a word. */
const SHORTEST = 7;

/** The secret and the Authorization header: as they are, encoded, and within a longer text that was encoded. */
export function formsOf({ accessKey, accessSecret }: KnownCredentials): Forms {
  const secret = Buffer.from(accessSecret, 'utf8');
  const forms: [string, string | Buffer][] = [
    ['as it is', secret],
    ['in JSON', JSON.stringify(accessSecret).slice(1, -1)],
    ['in an address', encodeURIComponent(accessSecret)],
    ['all of it in %XX', [...secret].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
    ['in entities of HTML', [...accessSecret].map((character) => `&#${character.codePointAt(0)};`).join('')],
    ['in hexadecimal', secret.toString('hex')],
    ['in capital hexadecimal', secret.toString('hex').toUpperCase()],
    ['in UTF-16', Buffer.from(accessSecret, 'utf16le')],
    ['in the Authorization header', Buffer.from(`${accessKey}:${accessSecret}`).toString('base64').replace(/=+$/, '')],
    ...[0, 1, 2].map((offset): [string, string] => [`in Base64 from ${offset}`, base64Within(secret, offset)]),
  ];
  const told = forms.map(([form, bytes]) => [form, Buffer.from(bytes)] as const);
  return new Map(secret.length === 0 ? [] : told.filter(([, bytes]) => bytes.length >= SHORTEST));
}

/** Which of them `bytes` hold. */
export function formsIn(bytes: Buffer, forms: Forms): readonly string[] {
  return [...forms].filter(([, wanted]) => bytes.includes(wanted)).map(([form]) => form);
}

/** Where in `texts` (by name) and in the files of `folders` they are; empty when all is well. */
export async function findCredentials(
  credentials: KnownCredentials,
  texts: Readonly<Record<string, string>>,
  folders: readonly string[] = [],
  isAllowed: (path: string) => boolean = () => false,
): Promise<readonly string[]> {
  const forms = formsOf(credentials);
  const found: string[] = [];
  const search = (place: string, bytes: Buffer): void => {
    found.push(...formsIn(bytes, forms).map((form) => `${place}: ${form}`));
  };
  for (const [name, text] of Object.entries(texts)) search(name, Buffer.from(text, 'utf8'));
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (isAllowed(path)) continue;
      search(`the name ${path}`, Buffer.from(entry.name));
      if (entry.isFile()) search(path, await readFile(path));
    }
  }
  return found;
}

/** What stays the same of the secret's Base64, whatever stands around it, when it begins at `offset` of three bytes. */
function base64Within(secret: Buffer, offset: number): string {
  const skipped = (3 - offset) % 3;
  const whole = secret.subarray(skipped, skipped + Math.floor((secret.length - skipped) / 3) * 3);
  return whole.toString('base64');
}
