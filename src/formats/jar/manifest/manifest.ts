/** Reads manifests and signature files as Java does (JAR File Specification, "Name-Value pairs and Sections"). */

import { jarErrors } from '../errors.ts';
import { nodeDigestName } from './digest-names.ts';

export interface Manifest {
  readonly bytes: Buffer;
  readonly main: MainSection;
  /** Parses the sections in each call, because storing a hundred thousand sections would take too much memory. */
  sections(): Iterable<ManifestSection>;
  valueOf(digest: Pick<DigestAttribute, 'valueStart' | 'end'>): string;
  readonly newline: string;
  /** Number of line endings (0, 1 or 2) that a new section at the end needs before it. */
  readonly missingNewlines: number;
}

export interface SectionRange {
  readonly start: number;
  /** Offset after the empty line that ends the section. Digests in signature files cover this empty line too. */
  readonly end: number;
}

export interface MainSection extends SectionRange {
  readonly attributes: ReadonlyMap<string, string>;
}

export interface ManifestSection extends SectionRange {
  readonly name: string;
  readonly nameEnd: number;
  readonly contentEnd: number;
  readonly digests: readonly DigestAttribute[];
}

export interface DigestAttribute {
  readonly algorithm: string;
  /** Name in node:crypto; undefined if Java does not support the algorithm. */
  readonly nodeName: string | undefined;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
/**
 * Size of Java's buffer for a line with its ending. Java reads an LF that does not fit into the buffer as an empty
 * line.
 */
const LONGEST_LINE = 512;
const LONGEST_NAME = 70;
/** The main section has tens of attributes, but a hostile main section can have half a million. */
const MOST_MAIN_ATTRIBUTES = 4096;
const MOST_DIGESTS = 256;
/** An attribute with this number of lines has 700 KB if the lines are as long as Java writes them. */
const MOST_CONTINUATIONS = 10_000;
const NAME = 'name';
const DIGEST_SUFFIX = '-digest';

/** Throws `manifest-invalid` if Java cannot read the manifest. Unlike Java, reads a last line without a line ending. */
export function readManifest(bytes: Buffer): Manifest {
  const found: Frame = { main: undefined, newline: undefined, missingNewlines: bytes.length === 0 ? 1 : 0 };
  const sections = scan(bytes, found);
  while (sections.next().done !== true);
  return {
    bytes,
    main: found.main ?? { start: 0, end: 0, attributes: new Map() },
    sections: () => scan(bytes, { ...found }),
    valueOf: ({ valueStart, end }) => textOf(bytes, valueStart, end),
    newline: found.newline ?? '\r\n',
    missingNewlines: found.missingNewlines,
  };
}

interface Frame {
  main: MainSection | undefined;
  newline: string | undefined;
  missingNewlines: number;
}

/** Reads line by line, and creates few objects, because there can be a hundred thousand lines. */
function* scan(bytes: Buffer, frame: Frame): Generator<ManifestSection> {
  const attributes = new Map<string, string>();
  let isMain = true;
  let isOpen = true;
  let start = 0;
  let name: string | undefined;
  let nameEnd = 0;
  let contentEnd = 0;
  let digests: DigestAttribute[] | undefined;
  let line = 0;
  let attributeStart = -1;
  let colon = 0;
  let attributeEnd = 0;
  let continuations = 0;

  const value = (): string => textOf(bytes, colon + 2, attributeEnd);
  const finishAttribute = (): void => {
    if (attributeStart < 0) return;
    if (isMain) {
      const mainName = bytes.toString('latin1', attributeStart, colon).toLowerCase();
      attributes.set(mainName, value());
      if (attributes.size > MOST_MAIN_ATTRIBUTES)
        throw invalid(`there are more than ${MOST_MAIN_ATTRIBUTES} attributes`);
    } else if (name === undefined) {
      name = value();
      nameEnd = attributeEnd;
    } else if (endsWithDigest(bytes, attributeStart, colon)) {
      const algorithm = bytes.toString('latin1', attributeStart, colon - DIGEST_SUFFIX.length);
      const nodeName = nodeDigestName(algorithm);
      digests ??= [];
      digests.push({ algorithm, nodeName, start: attributeStart, valueStart: colon + 2, end: attributeEnd });
      if (digests.length > MOST_DIGESTS) throw invalid(`there are more than ${MOST_DIGESTS} digests in its section`);
    }
    attributeStart = -1;
    continuations = 0;
  };
  const finishSection = (end: number): ManifestSection | undefined => {
    finishAttribute();
    isOpen = false;
    if (!isMain) return { name: name ?? '', start, end, nameEnd, contentEnd, digests: digests ?? NO_DIGESTS };
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
      // Signing adds a line ending to a last line without one.
      if (Math.max(next, lineEnd + 1) - position > LONGEST_LINE) {
        throw invalid(`it is longer than the ${LONGEST_LINE} bytes that Java reads`);
      }
      if (!isOpen) {
        start = position;
        name = undefined;
        digests = undefined;
        isOpen = true;
      }
      if (bytes[position] === SPACE) {
        if (attributeStart < 0) throw invalid('there is no line before it that it could continue');
        continuations++;
        if (continuations > MOST_CONTINUATIONS) throw invalid(`an attribute has more than ${MOST_CONTINUATIONS} lines`);
      } else {
        finishAttribute();
        attributeStart = position;
        colon = findColon(bytes, position, lineEnd);
        if (colon < 0) throw invalid('it is not "Name: value"');
        if (!isMain && name === undefined && !isName(bytes, position, colon)) {
          throw invalid('a section does not begin with "Name: "');
        }
      }
      attributeEnd = next;
      contentEnd = next;
    }
    // The last line needs a line ending, and an empty line after it.
    if (next === bytes.length) frame.missingNewlines = Number(next === lineEnd) + Number(isOpen);
    position = next;
  }
  const section = isOpen ? finishSection(bytes.length) : undefined;
  if (section !== undefined) yield section;
}

const NO_DIGESTS: readonly DigestAttribute[] = [];

function findColon(bytes: Buffer, start: number, lineEnd: number): number {
  let colon = start;
  while (colon < lineEnd && isNameByte(bytes[colon] ?? 0)) colon++;
  const isHeader =
    colon > start &&
    colon - start <= LONGEST_NAME &&
    colon + 1 < lineEnd &&
    bytes[colon] === COLON &&
    bytes[colon + 1] === SPACE;
  return isHeader ? colon : -1;
}

function isName(bytes: Buffer, start: number, end: number): boolean {
  return end - start === NAME.length && matches(bytes, start, NAME);
}

function endsWithDigest(bytes: Buffer, start: number, end: number): boolean {
  return end - start > DIGEST_SUFFIX.length && matches(bytes, end - DIGEST_SUFFIX.length, DIGEST_SUFFIX);
}

/** Ignores case. `lower` contains only lower-case letters and hyphens. */
function matches(bytes: Buffer, start: number, lower: string): boolean {
  for (let index = 0; index < lower.length; index++) {
    if (((bytes[start + index] ?? 0) | 0x20) !== (lower.charCodeAt(index) | 0x20)) return false;
  }
  return true;
}

function textOf(bytes: Buffer, start: number, end: number): string {
  const lineEnd = endOfLine(bytes, start);
  return afterLineEnd(bytes, lineEnd) >= end ? bytes.toString('utf8', start, lineEnd) : joined(bytes, start, end);
}

/** Joins lines before decoding, because some programs break lines within a character. */
function joined(bytes: Buffer, start: number, end: number): string {
  const text = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let position = start; position < end; ) {
    const lineEnd = Math.min(endOfLine(bytes, position), end);
    length += bytes.copy(text, length, position, lineEnd);
    position = afterLineEnd(bytes, lineEnd) + 1;
  }
  return text.toString('utf8', 0, length);
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

/** A new line must end like the line before it, because a CR followed by an LF would be read as one line ending. */
export function lineEndBefore({ bytes, newline }: Manifest, position: number): string {
  const last = bytes[position - 1];
  if (last === CR) return '\r';
  if (last === LF) return bytes[position - 2] === CR ? '\r\n' : '\n';
  return newline;
}

export function terminated(manifest: Manifest): Manifest {
  if (manifest.missingNewlines < 2) return manifest;
  return readManifest(Buffer.concat([manifest.bytes, Buffer.from(manifest.newline)]));
}
