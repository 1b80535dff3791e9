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

interface Magic {
  readonly bytes: readonly number[];
  readonly at?: number;
  readonly name: string;
}

const MAGICS: readonly Magic[] = [
  { bytes: [0x7f, 0x45, 0x4c, 0x46], name: 'a Linux program or library (ELF)' },
  { bytes: [0xcf, 0xfa, 0xed, 0xfe], name: 'a macOS program or library (Mach-O)' },
  { bytes: [0xce, 0xfa, 0xed, 0xfe], name: 'a macOS program or library (Mach-O)' },
  { bytes: [0xfe, 0xed, 0xfa, 0xcf], name: 'a macOS program or library (Mach-O)' },
  { bytes: [0xfe, 0xed, 0xfa, 0xce], name: 'a macOS program or library (Mach-O)' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], name: 'a Windows Installer package or Office file (OLE)' },
  { bytes: [0x4d, 0x53, 0x43, 0x46], name: 'a cabinet (CAB)' },
  {
    bytes: [0x45, 0x58, 0x50, 0x48],
    name: 'an encrypted package (MSIX, APPX), which is signed before it is encrypted',
  },
  {
    bytes: [0x45, 0x58, 0x53, 0x48],
    name: 'an encrypted package (MSIX, APPX), which is signed before it is encrypted',
  },
  { bytes: [0x45, 0x58, 0x42, 0x48], name: 'an encrypted bundle (MSIX, APPX), which is signed before it is encrypted' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], name: 'a ZIP archive' },
  { bytes: [0x50, 0x4b, 0x05, 0x06], name: 'an empty ZIP archive' },
  { bytes: [0x25, 0x50, 0x44, 0x46], name: 'a PDF document' },
  { bytes: [0x1f, 0x8b], name: 'a gzip archive' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], name: 'an xz archive' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], name: 'a zstd archive' },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], name: 'a 7-Zip archive' },
  { bytes: [0x52, 0x61, 0x72, 0x21], name: 'a RAR archive' },
  { bytes: [0x42, 0x5a, 0x68], name: 'a bzip2 archive' },
  { bytes: [0x21, 0x3c, 0x61, 0x72, 0x63, 0x68, 0x3e], name: 'a static library or Debian package (ar)' },
  { bytes: [0xed, 0xab, 0xee, 0xdb], name: 'an RPM package' },
  { bytes: [0x75, 0x73, 0x74, 0x61, 0x72], at: 257, name: 'a tar archive' },
  { bytes: [0x00, 0x61, 0x73, 0x6d], name: 'a WebAssembly module' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], name: 'a PNG picture' },
  { bytes: [0xff, 0xd8, 0xff], name: 'a JPEG picture' },
  { bytes: [0x23, 0x21], name: 'a script' },
];

/** After 0xcafebabe, a Java class has its version, and a fat Mach-O file the number of architectures. */
const MOST_ARCHITECTURES = 20;

const HEAD_LENGTH = 4096;

/** If the content fits several formats, the first of the `names` that fits one decides. Throws `unsupported-format`. */
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

/** If no format fits, returns a description such as `an empty file`. */
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

/** All checks of a file share one budget. */
export function contentReader(digestEntries: DigestEntries): ContentReader {
  return { measure: measureContent, digestEntries, budget: createWorkBudget() };
}

/**
 * If an archive follows bytes of another format, the file name decides. `description` is undefined if the first bytes
 * are enough to describe the file.
 */
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
/** An archive may follow a program (MZ, ELF, Mach-O) without deciding its format. */
const PROGRAMS: readonly string[] = ['MZ', '\x7fELF', '\xcf\xfa\xed\xfe', '\xce\xfa\xed\xfe', '\xca\xfe\xba\xbe'];

/**
 * Returns the names that show the type of the archive: those in its root and in `folders`. A program that ends with an
 * archive must be named like one.
 */
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

/** Programs and scripts are recognised without loading the code for archives. */
async function endsLikeArchive(source: ByteSource): Promise<boolean> {
  return (await import('../zip/end-record.ts')).endsLikeArchive(source);
}

const DAMAGED = 'a ZIP archive, damaged or of an unusual kind';

function isNamedAs({ extensions }: Format, name: string): boolean {
  const lower = name.toLowerCase();
  return extensions.some((extension) => lower.endsWith(extension));
}

export function describeBytes(head: Uint8Array): string {
  if (startsWith(head, [0x4d, 0x5a])) return describeMz(head);
  if (startsWith(head, [0xca, 0xfe, 0xba, 0xbe])) {
    return (head[7] ?? 0xff) <= MOST_ARCHITECTURES ? 'a macOS program or library (Mach-O)' : 'a compiled Java class';
  }
  const known = MAGICS.find(({ bytes, at = 0 }) => startsWith(head, bytes, at));
  if (known !== undefined) return known.name;
  if (head.every((byte) => byte === 0)) return 'a file of zeros';
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
  if (startsWith(head, [0xff, 0xfe]) || startsWith(head, [0xfe, 0xff])) return 'a text file (UTF-16)';
  // `head` may end in the middle of a character.
  let text: string;
  try {
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

function startsWith(bytes: Uint8Array, expected: readonly number[], at = 0): boolean {
  return expected.every((byte, index) => bytes[at + index] === byte);
}
