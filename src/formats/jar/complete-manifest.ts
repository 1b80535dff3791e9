/** The manifest as it must be to be signed: every file has a right digest, and nothing else has changed. */

import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { ContentDigest, KnownDigest, ListedEntry } from './content.ts';
import { CREATED_BY } from './created-by.ts';
import { isStrong, JAVA_DIGEST_NAME } from './digest-names.ts';
import type { Manifest } from './manifest.ts';
import { manifestLine } from './manifest-lines.ts';
import { textWriter } from './text-writer.ts';

export interface ManifestRequest {
  /** Undefined when the archive has none. */
  readonly manifest: Manifest | undefined;
  readonly listed: readonly ListedEntry[];
  readonly digestOf: ContentDigest;
  readonly algorithm: DigestAlgorithm;
  /** Whether a digest by another strong algorithm is as good: so that a signature that has it signed stays valid. */
  readonly keepOthers: boolean;
}

/** In bytes, of a new section. */
const PROBABLE_SECTION_LENGTH = 128;

interface TextEdit {
  readonly offset: number;
  readonly remove: number;
  readonly insert: string;
}

/** The new bytes: the old ones with the lines that were wrong or missing, in the old one's line ends, and sections for the rest. */
export function completeManifest(request: ManifestRequest): Buffer {
  const { manifest, listed, digestOf, algorithm, keepOthers } = request;
  const newline = manifest?.newline ?? '\r\n';
  const digestName = `${JAVA_DIGEST_NAME[algorithm]}-Digest`;
  const nodeName = NODE_DIGEST_NAME[algorithm];
  const edits: TextEdit[] = [];
  const added: number[] = [];
  for (const [position, { sectionEnd, digests }] of listed.entries()) {
    if (sectionEnd === undefined) {
      added.push(position);
      continue;
    }
    edits.push(...correctedDigests(digests, position, digestOf, newline));
    const isThere = digests.some((known) => known.nodeName === nodeName || (keepOthers && isStrong(known.nodeName)));
    if (!isThere)
      edits.push(addedLine(sectionEnd, manifestLine(digestName, digestOf(position, nodeName), newline), manifest));
  }

  const before = manifest?.bytes ?? newManifest(newline);
  const missing = manifest?.missingNewlines ?? 0;
  const written = textWriter(added.length * PROBABLE_SECTION_LENGTH, applyTextEdits(before, edits));
  // A last line that lacks its end is dropped by Java; an empty line must come before another section.
  written.add(newline.repeat(added.length > 0 ? missing : Math.max(0, missing - 1)));
  for (const position of added) {
    const { entry } = listed[position] as ListedEntry;
    written.add(manifestLine('Name', entry.name, newline));
    written.add(manifestLine(digestName, digestOf(position, nodeName), newline));
    written.add(newline);
  }
  return written.bytes();
}

function newManifest(newline: string): Buffer {
  return Buffer.from(`Manifest-Version: 1.0${newline}Created-By: ${CREATED_BY}${newline}${newline}`);
}

/** Each digest that is not the entry's, replaced; whatever Java's verifier can compute must be right. */
function correctedDigests(
  digests: readonly KnownDigest[],
  position: number,
  digestOf: ContentDigest,
  newline: string,
): TextEdit[] {
  return digests.flatMap(({ algorithm, nodeName, value, start, end }) => {
    const right = digestOf(position, nodeName);
    if (value === right) return [];
    return [{ offset: start, remove: end - start, insert: manifestLine(`${algorithm}-Digest`, right, newline) }];
  });
}

/** Behind the section's last line, which gets its end if it has none. */
function addedLine(sectionEnd: number, line: string, manifest: Manifest | undefined): TextEdit {
  const isUnterminated = manifest?.missingNewlines === 2 && sectionEnd === manifest.bytes.length;
  return { offset: sectionEnd, remove: 0, insert: isUnterminated ? manifest.newline + line : line };
}

function applyTextEdits(bytes: Buffer, edits: readonly TextEdit[]): Buffer[] {
  const parts: Buffer[] = [];
  let position = 0;
  for (const { offset, remove, insert } of edits.toSorted((a, b) => a.offset - b.offset)) {
    parts.push(bytes.subarray(position, offset), Buffer.from(insert));
    position = offset + remove;
  }
  return [...parts, bytes.subarray(position)];
}
