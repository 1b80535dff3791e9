import { DIGEST_LENGTH, type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../crypto/algorithms.ts';
import type { ContentDigest, KnownDigest, ListedEntry } from '../content.ts';
import { isStrong, JAVA_DIGEST_NAME, nodeDigestName } from './digest-names.ts';
import { type DigestAttribute, lineEndBefore, type Manifest, type ManifestSection, readManifest } from './manifest.ts';

export interface ManifestRequest {
  /** undefined if the archive has no manifest. The last line of the manifest must have a line ending. */
  readonly manifest: Manifest | undefined;
  readonly listed: readonly ListedEntry[];
  readonly digestOf: ContentDigest;
  readonly algorithm: DigestAlgorithm;
  /** If true, an existing digest with another strong algorithm is sufficient, so existing signatures stay valid. */
  readonly keepOthers: boolean;
}

/** The specification limits a line to 72 bytes, and can be read so that the limit includes the line ending. */
const LONGEST = 70;

/** Splits long lines (JAR File Specification, "Line length"). */
export function manifestLine(name: string, value: string, newline: string): string {
  const text = `${name}: ${value}`;
  // One UTF-16 code unit takes at most three bytes in UTF-8.
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text + newline;
  return wrap(text, newline);
}

function wrap(text: string, newline: string): string {
  let result = '';
  let length = 0;
  for (const character of text) {
    const bytes = Buffer.byteLength(character);
    if (length + bytes > LONGEST) {
      result += `${newline} `;
      length = 1;
    }
    result += character;
    length += bytes;
  }
  return result + newline;
}

export const CREATED_BY = 'codesign-remote';
const OWN_MANIFEST = `Manifest-Version: 1.0\r\nCreated-By: ${CREATED_BY}\r\n\r\n`;

/**
 * Lower bound of the manifest's length, known before digesting, so that a manifest that is too large for Java is never
 * built.
 */
export function leastLength({ manifest, listed, algorithm, keepOthers }: Omit<ManifestRequest, 'digestOf'>): number {
  const digestLine = `${JAVA_DIGEST_NAME[algorithm]}-Digest: \n`.length + 4 * Math.ceil(DIGEST_LENGTH[algorithm] / 3);
  return listed.reduce((sum, { sectionEnd, digests, entry }) => {
    if (sectionEnd === undefined) return sum + `Name: ${entry.name}\n\n`.length + digestLine;
    return hasDigest(digests, NODE_DIGEST_NAME[algorithm], keepOthers) ? sum : sum + digestLine;
  }, manifest?.bytes.length ?? 0);
}

interface TextEdit {
  readonly offset: number;
  readonly remove: number;
  readonly insert: string;
}

/** Replaces wrong digests, adds missing digests and sections, and keeps all other lines. */
export function completeManifest(request: ManifestRequest): Buffer {
  const { listed, digestOf, algorithm, keepOthers } = request;
  const manifest = request.manifest ?? readManifest(Buffer.from(OWN_MANIFEST));
  const digestName = `${JAVA_DIGEST_NAME[algorithm]}-Digest`;
  const nodeName = NODE_DIGEST_NAME[algorithm];
  const edits: TextEdit[] = [];
  const added: number[] = [];
  for (const [position, { sectionEnd, digests }] of listed.entries()) {
    if (sectionEnd === undefined) {
      added.push(position);
      continue;
    }
    for (const edit of correctedDigests(manifest, digests, position, digestOf)) edits.push(edit);
    if (hasDigest(digests, nodeName, keepOthers)) continue;
    const line = manifestLine(digestName, digestOf(position, nodeName), lineEndBefore(manifest, sectionEnd));
    edits.push({ offset: sectionEnd, remove: 0, insert: line });
  }

  const newline = lineEndBefore(manifest, manifest.bytes.length);
  // Java 8 does not recognise a CR without LF as the end of a line that continues a name.
  const sectionNewline = newline === '\r' ? '\r\n' : newline;
  function* sections(): Generator<string> {
    // An empty line must precede a section.
    if (added.length > 0) yield newline.repeat(manifest.missingNewlines);
    for (const position of added) {
      yield manifestLine('Name', listed[position]?.entry.name ?? '', sectionNewline);
      yield manifestLine(digestName, digestOf(position, nodeName), sectionNewline) + sectionNewline;
    }
  }
  return Buffer.concat([applyTextEdits(manifest.bytes, edits), encodeText(sections())]);
}

/** Encodes the text in pieces, because 60,000 sections as one string would take up to 100 MiB more. */
export function encodeText(lines: Iterable<string>): Buffer {
  const encoded: Buffer[] = [];
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < 0x10000) continue;
    encoded.push(Buffer.from(text));
    text = '';
  }
  return Buffer.concat([...encoded, Buffer.from(text)]);
}

function hasDigest(digests: readonly KnownDigest[], wanted: string, keepOthers: boolean): boolean {
  return digests.some(({ nodeName }) => nodeName === wanted || (keepOthers && isStrong(nodeName)));
}

/** Corrects all wrong digests, because Java checks every digest that it can compute. */
function correctedDigests(
  manifest: Manifest,
  digests: readonly KnownDigest[],
  position: number,
  digestOf: ContentDigest,
): TextEdit[] {
  return digests.flatMap((digest) => {
    const { algorithm, nodeName, start, end } = digest;
    const right = digestOf(position, nodeName);
    if (manifest.valueOf(digest) === right) return [];
    const line = manifestLine(`${algorithm}-Digest`, right, lineEndBefore(manifest, end));
    return [{ offset: start, remove: end - start, insert: line }];
  });
}

function applyTextEdits(bytes: Buffer, edits: readonly TextEdit[]): Buffer {
  const grown = edits.reduce((sum, { remove, insert }) => sum + Buffer.byteLength(insert) - remove, bytes.length);
  const edited = Buffer.allocUnsafe(grown);
  let [read, written] = [0, 0];
  for (const { offset, remove, insert } of edits.toSorted((a, b) => a.offset - b.offset)) {
    written += bytes.copy(edited, written, read, offset);
    written += edited.write(insert, written);
    read = offset + remove;
  }
  bytes.copy(edited, written, read);
  return edited;
}

/**
 * Also removes digests that existed before signing, because they look like digests that `sign` added, and sections that
 * then contain only a name. Returns undefined for a manifest that this program created.
 */
export function withoutDigests(manifest: Manifest): Buffer | undefined {
  const { bytes } = manifest;
  const kept: Buffer[] = [];
  let position = 0;
  const leaveOut = (start: number, end: number): void => {
    kept.push(bytes.subarray(position, start));
    position = end;
  };
  for (const section of manifest.sections()) {
    const digests = section.digests.filter(isOfContents);
    if (digests.length === 0) continue;
    if (holdsNothingElse(section, digests)) leaveOut(section.start, section.end);
    else for (const { start, end } of digests) leaveOut(start, end);
  }
  const stripped = Buffer.concat([...kept, bytes.subarray(position)]);
  return stripped.toString('latin1') === OWN_MANIFEST ? undefined : stripped;
}

function isOfContents({ algorithm }: DigestAttribute): boolean {
  return nodeDigestName(algorithm) !== undefined || algorithm.toUpperCase() === 'MD2';
}

function holdsNothingElse(
  { start, nameEnd, contentEnd }: ManifestSection,
  digests: readonly DigestAttribute[],
): boolean {
  return digests.reduce((sum, digest) => sum + digest.end - digest.start, nameEnd - start) === contentEnd - start;
}
