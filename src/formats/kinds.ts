/** Determines the type of any file that is found in a container. */

import { extname } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { Format } from '../format/format.ts';
import { identify } from './recognise.ts';
import { CONTAINERS, formats as FORMATS } from './registry.ts';

/** The type of a file that has no known format. */
export interface OtherKind {
  readonly id: 'elf' | 'mach-o' | 'apk' | 'other';
  /** A noun phrase for an archive that this program cannot open. */
  readonly archive: string | undefined;
}

export async function kindOf(
  source: ByteSource,
  name: string,
  { formats }: { readonly formats: readonly Format[] },
): Promise<Format | OtherKind> {
  const own = await identify(source, name, formats);
  if (typeof own !== 'string') {
    // Most JavaScript files are meant for browsers or Node.js, even if they mention signature blocks.
    const isJavaScript = own.id === 'wsh' && extname(name).toLowerCase() === '.js';
    return isJavaScript ? { id: 'other', archive: undefined } : own;
  }
  const container = await identify(source, name, CONTAINERS);
  if (typeof container !== 'string') return container;
  const archive = ARCHIVES.some((word) => own.includes(word)) ? own : DISK_IMAGES.get(extname(name).toLowerCase());
  return { id: DESCRIBED.find(([word]) => own.includes(word))?.[1] ?? 'other', archive };
}

const OTHER_TYPE: ReadonlySet<string> = new Set(['not-a-pe', 'not-an-installer-file']);

/**
 * The PE format also recognises DOS programs, and the MSI format also recognises Office documents. Returns true for a
 * DOS program or an Office document without an extension of the format.
 */
export function isOfOtherType(code: string | undefined, { extensions }: Format, name: string): boolean {
  return code !== undefined && OTHER_TYPE.has(code) && !extensions.includes(extname(name).toLowerCase());
}

/** Words in descriptions, with the ids of the described types. */
const DESCRIBED = [
  ['(ELF)', 'elf'],
  ['(Mach-O)', 'mach-o'],
  ['(APK)', 'apk'],
] as const;
const ARCHIVES: readonly string[] = ['archive', 'Debian package', 'RPM package', 'encrypted'];

/** The bytes that identify a disk image are far from its start, so its extension decides. */
const DISK_IMAGES: ReadonlyMap<string, string> = new Map([
  ['.dmg', 'a macOS disk image (DMG)'],
  ['.iso', 'a disk image (ISO 9660)'],
]);

export const KINDS: ReadonlySet<string> = new Set([
  ...[...FORMATS, ...CONTAINERS].map(({ id }) => id),
  ...DESCRIBED.map(([, id]) => id),
]);
