/** The manifest as it must be to be signed: every file has a right digest, and nothing else has changed. */

import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { ContentDigest, KnownDigest, ListedEntry } from './content.ts';
import { CREATED_BY } from './created-by.ts';
import { isStrong, JAVA_DIGEST_NAME } from './digest-names.ts';
import type { Manifest, ManifestSection } from './manifest.ts';
import { manifestLine } from './manifest-lines.ts';

export interface ManifestRequest {
  /** Undefined when the archive has none. */
  readonly manifest: Manifest | undefined;
  readonly listed: readonly ListedEntry[];
  readonly digestOf: ContentDigest;
  readonly algorithm: DigestAlgorithm;
  /** Whether a digest by another strong algorithm is as good: so that a signature that has it signed stays valid. */
  readonly keepOthers: boolean;
}

interface TextEdit {
  readonly offset: number;
  readonly remove: number;
  readonly insert: string;
}

/** The new bytes: the old ones with the lines that were wrong or missing, in the old one's line ends, and sections for the rest. */
export function completeManifest(request: ManifestRequest): Buffer {
  const { manifest, listed, digestOf, algorithm, keepOthers } = request;
  const newline = manifest?.newline ?? '\r\n';
  const javaName = JAVA_DIGEST_NAME[algorithm];
  const nodeName = NODE_DIGEST_NAME[algorithm];
  const edits: TextEdit[] = [];
  const added: string[] = [];
  for (const [position, { entry, sections, digests }] of listed.entries()) {
    const digest = (): string => digestOf(position, nodeName);
    const section = sections.at(-1);
    if (section === undefined) {
      added.push(
        manifestLine('Name', entry.name, newline) + manifestLine(`${javaName}-Digest`, digest(), newline) + newline,
      );
      continue;
    }
    edits.push(...correctedDigests(digests, position, digestOf, newline));
    const isThere = digests.some((known) => known.nodeName === nodeName || (keepOthers && isStrong(known.nodeName)));
    if (!isThere) edits.push(addedLine(section, manifestLine(`${javaName}-Digest`, digest(), newline), request));
  }
  const before = manifest?.bytes ?? newManifest(newline);
  const missing = manifest?.missingNewlines ?? 0;
  // A last line that lacks its end is dropped by Java; an empty line must come before another section.
  const needed = added.length > 0 ? missing : Math.max(0, missing - 1);
  return applyTextEdits(before, edits, newline.repeat(needed) + added.join(''));
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
function addedLine(section: ManifestSection, line: string, { manifest }: ManifestRequest): TextEdit {
  const isUnterminated =
    manifest !== undefined && manifest.missingNewlines === 2 && section.contentEnd === manifest.bytes.length;
  return { offset: section.contentEnd, remove: 0, insert: isUnterminated ? manifest.newline + line : line };
}

function applyTextEdits(bytes: Buffer, edits: readonly TextEdit[], appended: string): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  for (const { offset, remove, insert } of edits.toSorted((a, b) => a.offset - b.offset)) {
    parts.push(bytes.subarray(position, offset), Buffer.from(insert));
    position = offset + remove;
  }
  parts.push(bytes.subarray(position), Buffer.from(appended));
  return Buffer.concat(parts);
}
