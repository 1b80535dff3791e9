import { extname } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { measureContent } from '../crypto/measure-content.ts';
import { createWorkBudget } from '../crypto/work-budget.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { formatErrors } from '../format/errors.ts';
import type { Format } from '../format/format.ts';
import type { ContentReader } from '../format/signable-file.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import { hasManifest, KIND_FOLDERS, type Names, otherZipKind } from './zip-family.ts';

/** Bytes at the start of a file, or at an offset, as Latin-1 text. */
const MAGICS: readonly (readonly [bytes: string, description: string, offset?: number])[] = [
  ['\x7fELF\x02\x01\x01\0AI\x02', 'a Linux program (ELF) with an archive (AppImage)'],
  ['\x7fELF', 'a Linux program or library (ELF)'],
  ['\xcf\xfa\xed\xfe', 'a macOS program or library (Mach-O)'],
  ['\xce\xfa\xed\xfe', 'a macOS program or library (Mach-O)'],
  ['\xfe\xed\xfa\xcf', 'a macOS program or library (Mach-O)'],
  ['\xfe\xed\xfa\xce', 'a macOS program or library (Mach-O)'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a Windows Installer package or Office file (OLE)'],
  ['MSCF', 'a cabinet (CAB)'],
  ['EXPH', 'an encrypted package (MSIX, APPX), which is signed before it is encrypted'],
  ['EXSH', 'an encrypted package (MSIX, APPX), which is signed before it is encrypted'],
  ['EXBH', 'an encrypted bundle (MSIX, APPX), which is signed before it is encrypted'],
  ['PK\x03\x04', 'a ZIP archive'],
  ['PK\x05\x06', 'an empty ZIP archive'],
  ['%PDF', 'a PDF document'],
  ['\x1f\x8b', 'a gzip archive'],
  ['\xfd7zXZ', 'an xz archive'],
  ['(\xb5/\xfd', 'a zstd archive'],
  ["7z\xbc\xaf'\x1c", 'a 7-Zip archive'],
  ['Rar!', 'a RAR archive'],
  ['BZh', 'a bzip2 archive'],
  ['\x1f\x9d', 'a compress archive (.Z)'],
  ['MSWIM\0\0\0', 'a Windows image archive (WIM)'],
  ['xar!', 'a macOS package or other archive (xar)'],
  ['!<arch>', 'a static library or Debian package (ar)'],
  ['\xed\xab\xee\xdb', 'an RPM package'],
  ['ustar', 'a tar archive', 257],
  ['\0asm', 'a WebAssembly module'],
  ['\x89PNG', 'a PNG picture'],
  ['\xff\xd8\xff', 'a JPEG picture'],
  ['#!', 'a script'],
];

/** After the bytes ca fe ba be, a Java class contains its version, and a Mach-O file the number of architectures. */
const MOST_ARCHITECTURES = 20;

const HEAD_LENGTH = 4096;

/** Tries the names in order, because the file name can decide between formats. */
export async function recogniseFormat(
  source: ByteSource,
  names: readonly [string, ...string[]],
  { formats, containers = [] }: { readonly formats: readonly Format[]; readonly containers?: readonly Format[] },
): Promise<Format> {
  const head = await source.read(0, Math.min(HEAD_LENGTH, source.size));
  let looksLike: string | undefined;
  for (const name of new Set(names)) {
    const { format, description } = await recognise(head, source, name, formats);
    if (format !== undefined) {
      const extensions = new Set(names.map((each) => extname(each).toLowerCase()));
      if (format.signing?.keepsExtension && extensions.size > 1) {
        throw formatErrors('extension-changes', { format: format.title, extensions: [...extensions].join(' and ') });
      }
      return format;
    }
    looksLike ??= description;
  }
  const { format } = containers.length > 0 ? await recognise(head, source, names[0], containers) : {};
  if (format !== undefined) return format;
  throw formatErrors('unsupported-format', {
    appearance: head.length === 0 ? 'is empty' : `looks like ${looksLike ?? describeBytes(head)}`,
    formats: formats.map(inShort).join(', '),
  });
}

/** Returns the format, or a description such as `an empty file`. */
export async function identify(source: ByteSource, name: string, formats: readonly Format[]): Promise<Format | string> {
  const head = await source.read(0, Math.min(HEAD_LENGTH, source.size));
  const { format, description } = await recognise(head, source, name, formats);
  return format ?? description ?? (head.length === 0 ? 'an empty file' : describeBytes(head));
}

const EXTENSIONS_SHOWN = 3;

function inShort({ title, extensions }: Format): string {
  const shown = [...extensions.slice(0, EXTENSIONS_SHOWN), ...(extensions.length > EXTENSIONS_SHOWN ? ['…'] : [])];
  return `${title.replace(/ \(.*/, '')} (${shown.join(', ')})`;
}

/** One budget limits the work of all checks of a file. */
export function contentReader(digestEntries: DigestEntries): ContentReader {
  return { measure: measureContent, digestEntries, budget: createWorkBudget() };
}

/** If an archive follows bytes of another format, the file name decides. Only a ZIP archive has a `description`. */
async function recognise(
  head: Uint8Array,
  source: ByteSource,
  name: string,
  formats: readonly Format[],
): Promise<{ format?: Format | undefined; description?: string }> {
  const ofZip = formats.flatMap((format) =>
    format.recognition.by === 'zip' ? [{ format, ...format.recognition }] : [],
  );
  const isNamedAsArchive = ofZip.some(({ format }) => isNamedAs(format, name));
  const byBytes = formats.find(({ recognition }) => recognition.by === 'bytes' && recognition.claims(head, name));
  if (byBytes !== undefined && !(isNamedAsArchive && (await endsLikeArchive(source)))) return { format: byBytes };

  const folders = ofZip.flatMap((each) => each.folders);
  const found = await readZipNames(head, source, isNamedAsArchive, folders);
  if (found === undefined) return {};
  const names: Names = found === 'damaged' ? new Set() : found;
  const claims = ofZip.map(({ format, claims }) => ({ format, claim: claims(names, name) }));
  const sure = claims.find(({ claim }) => claim === 'surely');
  const other = sure === undefined ? otherZipKind(names, name) : undefined;
  if (other !== undefined) return { description: other };
  const claimed = sure ?? claims.find(({ claim }) => claim === 'possibly');
  const format = (claimed ?? (found === 'damaged' ? ofZip.find((each) => isNamedAs(each.format, name)) : undefined))
    ?.format;
  return {
    format,
    description:
      found === 'damaged' ? DAMAGED : hasManifest(names) ? 'a JAR archive' : 'a ZIP archive without a JAR manifest',
  };
}

const STARTS: readonly string[] = ['PK\x03\x04', 'PK\x05\x06'];
/** If an archive follows a program (MZ, ELF, Mach-O), the file is a program, unless it is named like an archive. */
const PROGRAMS: readonly string[] = ['MZ', '\x7fELF', '\xcf\xfa\xed\xfe', '\xce\xfa\xed\xfe', '\xca\xfe\xba\xbe'];

/** Returns the names that show the type of the archive, or undefined if the file is not an archive. */
async function readZipNames(
  head: Uint8Array,
  source: ByteSource,
  isNamedAsArchive: boolean,
  folders: readonly string[],
): Promise<Names | 'damaged' | undefined> {
  const start = Buffer.from(head.subarray(0, 4)).toString('latin1');
  if (!STARTS.includes(start)) {
    if (PROGRAMS.some((program) => start.startsWith(program)) && !isNamedAsArchive) return undefined;
    if (!(await endsLikeArchive(source))) return undefined;
  }
  const { readKindNames } = await import('../zip/archive.ts');
  const names = await readKindNames(source, new Set([...KIND_FOLDERS, ...folders])).catch(expectedError);
  return names instanceof Error ? 'damaged' : names;
}

/** Loads the code for archives only if it is needed. */
async function endsLikeArchive(source: ByteSource): Promise<boolean> {
  return (await import('../zip/end-record.ts')).endsLikeArchive(source);
}

const DAMAGED = 'a ZIP archive, damaged or of an unusual kind';

function isNamedAs({ extensions }: Format, name: string): boolean {
  const lower = name.toLowerCase();
  return extensions.some((extension) => lower.endsWith(extension));
}

export function describeBytes(head: Uint8Array): string {
  const bytes = Buffer.from(head).toString('latin1');
  if (bytes.startsWith('MZ')) return describeMz(head);
  if (bytes.startsWith('\xca\xfe\xba\xbe')) {
    return (head[7] ?? 0xff) <= MOST_ARCHITECTURES ? 'a macOS program or library (Mach-O)' : 'a compiled Java class';
  }
  const known = MAGICS.find(([magic, , offset]) => bytes.startsWith(magic, offset));
  if (known !== undefined) return known[1];
  if (head.every((byte) => byte === 0)) return 'a file of zeros';
  if (/^(\xff\xfe|\xfe\xff)/.test(bytes)) return 'a text file (UTF-16)';
  return describeText(head);
}

export function describeNewHeader(letters: string): string {
  if (letters === 'PE') return 'a Windows program (PE)';
  if (letters === 'NE') return 'a 16 bit Windows or OS/2 program (NE)';
  if (letters === 'LX') return 'an OS/2 program (LX)';
  if (letters === 'LE') return 'a Windows 9x driver or DOS extender program (LE)';
  return 'a DOS program (MZ)';
}

function describeMz(head: Uint8Array): string {
  if (head.length < 64) return describeNewHeader('');
  const offset = new DataView(head.buffer, head.byteOffset).getUint32(60, true);
  return describeNewHeader(Buffer.from(head.subarray(offset, offset + 2)).toString('latin1'));
}

function describeText(head: Uint8Array): string {
  let text: string;
  try {
    // With `stream`, the bytes may end in the middle of a character.
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return 'data of an unknown kind';
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish data from text
  if (/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text)) return 'data of an unknown kind';
  const start = text.trimStart().slice(0, 64).toLowerCase();
  if (start.startsWith('<!doctype html') || start.startsWith('<html')) return 'a web page (HTML)';
  if (start.startsWith('<?xml')) return 'an XML file';
  if (start.startsWith('version https://git-lfs')) return 'a Git LFS pointer: the file itself was not fetched';
  return 'a text file';
}
