/** Building the signature file, NAME.SF (JAR File Specification, "Signature File"): digests of the manifest, whole and in parts. */

import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { sectionDigest } from './agreement.ts';
import { CREATED_BY } from './created-by.ts';
import { JAVA_DIGEST_NAME } from './digest-names.ts';
import type { Manifest } from './manifest.ts';
import { manifestLine } from './manifest-lines.ts';
import { partsByName } from './manifest-sections.ts';
import { textWriter } from './text-writer.ts';

const NEWLINE = '\r\n';

export interface SignatureFileRequest {
  readonly manifest: Manifest;
  /** Names that come more than once in it. */
  readonly repeated: ReadonlySet<string>;
  readonly algorithm: DigestAlgorithm;
  /** Whether a section belongs to something that is in the archive; the others are not vouched for. */
  speaksOf(name: string): boolean;
}

export function buildSignatureFile({ manifest, repeated, algorithm, speaksOf }: SignatureFileRequest): Buffer {
  const { bytes, main } = manifest;
  const digest = (parts: readonly Buffer[]): string => sectionDigest(NODE_DIGEST_NAME[algorithm], parts);
  const javaName = JAVA_DIGEST_NAME[algorithm];
  // Per section it is about as long as the manifest, and begins with a few lines more.
  const file = textWriter(bytes.length + 1024);
  file.add(manifestLine('Signature-Version', '1.0', NEWLINE));
  file.add(manifestLine('Created-By', CREATED_BY, NEWLINE));
  file.add(manifestLine(`${javaName}-Digest-Manifest`, digest([bytes]), NEWLINE));
  const mainDigest = digest([bytes.subarray(main.start, main.end)]);
  file.add(manifestLine(`${javaName}-Digest-Manifest-Main-Attributes`, mainDigest, NEWLINE));
  file.add(NEWLINE);
  for (const [name, parts] of partsByName(manifest, repeated)) {
    if (!speaksOf(name)) continue;
    file.add(manifestLine('Name', name, NEWLINE));
    file.add(manifestLine(`${javaName}-Digest`, digest(parts), NEWLINE));
    file.add(NEWLINE);
  }
  return file.bytes();
}
