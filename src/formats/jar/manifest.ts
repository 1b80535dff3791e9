/**
 * Reading manifests and signature files, which have one syntax (JAR File Specification, "Name-Value pairs and Sections"):
 * as Java's own reader takes them, with the place of everything that signing looks at or changes.
 */

import { jarErrors } from './errors.ts';

export interface Manifest {
  readonly bytes: Buffer;
  readonly main: MainSection;
  /** In the file's order; a name may come twice, and then means both together. */
  readonly sections: readonly ManifestSection[];
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

interface OpenAttribute {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  firstLineEnd: number;
  /** Pieces of the value's continuation lines; undefined when it has none, as nearly all. */
  pieces: Buffer[] | undefined;
  end: number;
}

interface OpenSection {
  readonly start: number;
  name: string | undefined;
  contentEnd: number;
  readonly digests: DigestAttribute[];
}

/** Throws `manifest-invalid` for what Java does not read. A last line without its end, which Java drops, is read all the same. */
export function readManifest(bytes: Buffer): Manifest {
  const attributes = new Map<string, string>();
  const sections: ManifestSection[] = [];
  let main: SectionRange | undefined;
  let section: OpenSection = { start: 0, name: undefined, contentEnd: 0, digests: [] };
  let isOpen = true;
  let attribute: OpenAttribute | undefined;
  let line = 0;
  let newline: string | undefined;
  let missingNewlines = bytes.length === 0 ? 1 : 0;

  const invalid = (problem: string) => jarErrors('manifest-invalid', { line, problem });

  function finishAttribute(): void {
    if (attribute === undefined) return;
    const { name, start, end } = attribute;
    if (main !== undefined && section.name === undefined) {
      section.name = textOf(bytes, attribute);
    } else if (main === undefined) {
      attributes.set(name.toLowerCase(), textOf(bytes, attribute));
    } else if (name.length > DIGEST_SUFFIX.length && name.toLowerCase().endsWith(DIGEST_SUFFIX)) {
      const algorithm = name.slice(0, -DIGEST_SUFFIX.length);
      section.digests.push({ algorithm, value: textOf(bytes, attribute), start, end });
    }
    attribute = undefined;
  }

  function closeSection(end: number): void {
    finishAttribute();
    if (main === undefined) main = { start: 0, end };
    else sections.push({ ...section, name: section.name ?? '', end });
    isOpen = false;
  }

  let position = 0;
  while (position < bytes.length) {
    line++;
    const contentEnd = endOfLine(bytes, position);
    const next = afterLineEnd(bytes, contentEnd);
    newline ??= next > contentEnd ? bytes.toString('latin1', contentEnd, next) : undefined;
    if (contentEnd === position) {
      if (isOpen) closeSection(next);
    } else {
      if (contentEnd - position > LONGEST_LINE - 2)
        throw invalid(`it is longer than the ${LONGEST_LINE} bytes that Java reads`);
      if (!isOpen) {
        section = { start: position, name: undefined, contentEnd: position, digests: [] };
        isOpen = true;
      }
      if (bytes[position] === SPACE) {
        if (attribute === undefined) throw invalid('it continues no line before it');
        attribute.pieces ??= [];
        attribute.pieces.push(bytes.subarray(position + 1, contentEnd));
        attribute.end = next;
      } else {
        finishAttribute();
        attribute = openAttribute(bytes, position, contentEnd, next);
        if (attribute === undefined) throw invalid('it is no "Name: value"');
        if (main !== undefined && section.name === undefined && attribute.name.toLowerCase() !== 'name') {
          throw invalid('a section does not begin with "Name: "');
        }
      }
      section.contentEnd = next;
    }
    if (next === bytes.length) missingNewlines = next === contentEnd ? 2 : isOpen ? 1 : 0;
    position = next;
  }
  if (isOpen) closeSection(bytes.length);
  return {
    bytes,
    main: { start: 0, end: 0, ...main, attributes },
    sections,
    newline: newline ?? '\r\n',
    missingNewlines,
  };
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
export function sectionsByName({ sections }: Manifest): Map<string, readonly ManifestSection[]> {
  const byName = new Map<string, readonly ManifestSection[]>();
  for (const section of sections) {
    const before = byName.get(section.name);
    byName.set(section.name, before === undefined ? [section] : [...before, section]);
  }
  return byName;
}

/** The digests that count: of one algorithm the last one, as Java's attributes have it. */
export function effectiveDigests(sections: readonly ManifestSection[]): readonly DigestAttribute[] {
  const [only] = sections;
  if (sections.length === 1 && only !== undefined && only.digests.length < 2) return only.digests;
  const byAlgorithm = new Map<string, DigestAttribute>();
  for (const { digests } of sections) {
    for (const digest of digests) byAlgorithm.set(digest.algorithm.toUpperCase(), digest);
  }
  return [...byAlgorithm.values()];
}
