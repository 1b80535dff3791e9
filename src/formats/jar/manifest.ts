/**
 * Reading manifests and signature files, which have one syntax (JAR File Specification, "Name-Value pairs and Sections"):
 * as Java's own reader takes them, with the place of everything that signing looks at or changes.
 */

import { jarErrors } from './errors.ts';

export interface Manifest {
  readonly bytes: Buffer;
  readonly main: MainSection;
  /** In the file's order. Read anew each time, since there may be a hundred thousand. */
  sections(): Iterable<ManifestSection>;
  /** The first line's end: `\r\n`, `\n` or `\r`. */
  readonly newline: string;
  /** Ends of line that are missing before another section could follow: 0, 1 or 2. */
  readonly missingNewlines: number;
}

export interface SectionRange {
  readonly start: number;
  /** With the empty line that ends it: what a signature file has the digest of. */
  readonly end: number;
}

export interface MainSection extends SectionRange {
  /** By name in lower case. */
  readonly attributes: ReadonlyMap<string, string>;
}

export interface ManifestSection extends SectionRange {
  /** Of the entry. */
  readonly name: string;
  /** Where the last line that is not empty ends, with its line end: further attributes go there. */
  readonly contentEnd: number;
  /** Its attributes that are digests. */
  readonly digests: readonly DigestAttribute[];
}

export interface DigestAttribute {
  /** Java's name, as written: `SHA-256`. */
  readonly algorithm: string;
  /** Base64, as written. */
  readonly value: string;
  /** Of all its lines, with their ends. */
  readonly start: number;
  readonly end: number;
}

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
/** Java's buffer for one line, its end included. */
const LONGEST_LINE = 512;
const DIGEST_SUFFIX = '-digest';

/** Throws `manifest-invalid` for what Java does not read. A last line without its end, which Java drops, is read all the same. */
export function readManifest(bytes: Buffer): Manifest {
  const found: Frame = { main: undefined, newline: undefined, missingNewlines: bytes.length === 0 ? 1 : 0 };
  const sections = scan(bytes, found);
  while (sections.next().done !== true);
  return {
    bytes,
    main: found.main ?? { start: 0, end: 0, attributes: new Map() },
    sections: () => scan(bytes, { ...found }),
    newline: found.newline ?? '\r\n',
    missingNewlines: found.missingNewlines,
  };
}

/** What a scan finds beside the sections. */
interface Frame {
  main: MainSection | undefined;
  newline: string | undefined;
  missingNewlines: number;
}

interface OpenAttribute {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly firstLineEnd: number;
  /** Pieces of the value's continuation lines; undefined when it has none, as nearly all. */
  pieces: Buffer[] | undefined;
  end: number;
}

/** Yields the sections behind the main one, line by line as Java's reader goes. */
function* scan(bytes: Buffer, frame: Frame): Generator<ManifestSection> {
  const attributes = new Map<string, string>();
  let isMain = true;
  let isOpen = true;
  let start = 0;
  let name: string | undefined;
  let contentEnd = 0;
  let digests: DigestAttribute[] = [];
  let attribute: OpenAttribute | undefined;
  let line = 0;

  const finishAttribute = (): void => {
    if (attribute === undefined) return;
    const value = isMain || name === undefined || isDigest(attribute.name) ? textOf(bytes, attribute) : '';
    if (isMain) attributes.set(attribute.name.toLowerCase(), value);
    else if (name === undefined) name = value;
    else if (isDigest(attribute.name)) {
      const algorithm = attribute.name.slice(0, -DIGEST_SUFFIX.length);
      digests.push({ algorithm, value, start: attribute.start, end: attribute.end });
    }
    attribute = undefined;
  };
  const finishSection = (end: number): ManifestSection | undefined => {
    finishAttribute();
    isOpen = false;
    if (!isMain) return { name: name ?? '', start, end, contentEnd, digests };
    frame.main = { start: 0, end, attributes };
    isMain = false;
    return undefined;
  };
  const invalid = (problem: string) => jarErrors('manifest-invalid', { line, problem });

  let position = 0;
  while (position < bytes.length) {
    line++;
    const lineEnd = endOfLine(bytes, position);
    const next = afterLineEnd(bytes, lineEnd);
    if (frame.newline === undefined && next > lineEnd) frame.newline = bytes.toString('latin1', lineEnd, next);
    if (lineEnd === position) {
      const section = isOpen ? finishSection(next) : undefined;
      if (section !== undefined) yield section;
    } else {
      if (lineEnd - position > LONGEST_LINE - 2) {
        throw invalid(`it is longer than the ${LONGEST_LINE} bytes that Java reads`);
      }
      if (!isOpen) {
        start = position;
        name = undefined;
        digests = [];
        isOpen = true;
      }
      if (bytes[position] === SPACE) {
        if (attribute === undefined) throw invalid('it continues no line before it');
        attribute.pieces ??= [];
        attribute.pieces.push(bytes.subarray(position + 1, lineEnd));
        attribute.end = next;
      } else {
        finishAttribute();
        attribute = openAttribute(bytes, position, lineEnd, next);
        if (attribute === undefined) throw invalid('it is no "Name: value"');
        if (!isMain && name === undefined && attribute.name.toLowerCase() !== 'name') {
          throw invalid('a section does not begin with "Name: "');
        }
      }
      contentEnd = next;
    }
    if (next === bytes.length) frame.missingNewlines = missingAtEnd(next > lineEnd, isOpen);
    position = next;
  }
  const section = isOpen ? finishSection(bytes.length) : undefined;
  if (section !== undefined) yield section;
}

/** The last line's own end, and the empty line after it. */
function missingAtEnd(isTerminated: boolean, isOpen: boolean): number {
  if (!isTerminated) return 2;
  return isOpen ? 1 : 0;
}

function isDigest(name: string): boolean {
  return name.length > DIGEST_SUFFIX.length && name.toLowerCase().endsWith(DIGEST_SUFFIX);
}

/** Undefined when the line is no header. */
function openAttribute(bytes: Buffer, start: number, lineEnd: number, next: number): OpenAttribute | undefined {
  let colon = start;
  while (colon < lineEnd && isNameByte(bytes[colon] ?? 0)) colon++;
  const nameLength = colon - start;
  if (nameLength === 0 || nameLength > 70 || bytes[colon] !== COLON || colon + 1 >= lineEnd) return undefined;
  if (bytes[colon + 1] !== SPACE) return undefined;
  const name = bytes.toString('latin1', start, colon);
  return { name, start, valueStart: colon + 2, firstLineEnd: lineEnd, pieces: undefined, end: next };
}

/** Bytes are joined before they are decoded: other programs break lines inside a character. */
function textOf(bytes: Buffer, { valueStart, firstLineEnd, pieces }: OpenAttribute): string {
  if (pieces === undefined) return bytes.toString('utf8', valueStart, firstLineEnd);
  return Buffer.concat([bytes.subarray(valueStart, firstLineEnd), ...pieces]).toString('utf8');
}

function isNameByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x5f
  );
}

function endOfLine(bytes: Buffer, start: number): number {
  let position = start;
  for (; position < bytes.length; position++) {
    const byte = bytes[position];
    if (byte === LF || byte === CR) break;
  }
  return position;
}

function afterLineEnd(bytes: Buffer, position: number): number {
  if (position >= bytes.length) return position;
  return bytes[position] === CR && bytes[position + 1] === LF ? position + 2 : position + 1;
}

/** Sections by the name of their entry. */
export function sectionsByName(manifest: Manifest): Map<string, readonly ManifestSection[]> {
  const byName = new Map<string, readonly ManifestSection[]>();
  for (const section of manifest.sections()) {
    const before = byName.get(section.name);
    byName.set(section.name, before === undefined ? [section] : [...before, section]);
  }
  return byName;
}

/** Each name with the bytes of its section or sections, in the order in which the names first come. */
export function* partsByName(manifest: Manifest): Generator<readonly [name: string, parts: readonly Buffer[]]> {
  const bytesOf = ({ start, end }: ManifestSection): Buffer => manifest.bytes.subarray(start, end);
  if (!hasRepeatedNames(manifest)) {
    for (const section of manifest.sections()) yield [section.name, [bytesOf(section)]];
  } else {
    for (const [name, sections] of sectionsByName(manifest)) yield [name, sections.map(bytesOf)];
  }
}

/** Whether a name comes twice: then its sections mean all of them together. */
function hasRepeatedNames(manifest: Manifest): boolean {
  const names = new Set<string>();
  for (const { name } of manifest.sections()) {
    if (names.has(name)) return true;
    names.add(name);
  }
  return false;
}
