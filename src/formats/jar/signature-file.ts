/** Building the signature file, NAME.SF (JAR File Specification, "Signature File"): digests of the manifest, whole and in parts. */

import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { sectionDigest } from './agreement.ts';
import { CREATED_BY } from './created-by.ts';
import { JAVA_DIGEST_NAME } from './digest-names.ts';
import { type Manifest, sectionsByName } from './manifest.ts';
import { manifestLine } from './manifest-lines.ts';

const NEWLINE = '\r\n';

/** `speaksOf`: whether a section belongs to something that is in the archive; the others are not vouched for. */
export function buildSignatureFile(
  manifest: Manifest,
  algorithm: DigestAlgorithm,
  speaksOf: (name: string) => boolean,
): Buffer {
  const { bytes, main } = manifest;
  const digest = (...parts: readonly Buffer[]): string => sectionDigest(NODE_DIGEST_NAME[algorithm], parts);
  const javaName = JAVA_DIGEST_NAME[algorithm];
  const lines = [
    manifestLine('Signature-Version', '1.0', NEWLINE),
    manifestLine('Created-By', CREATED_BY, NEWLINE),
    manifestLine(`${javaName}-Digest-Manifest`, digest(bytes), NEWLINE),
    manifestLine(`${javaName}-Digest-Manifest-Main-Attributes`, digest(bytes.subarray(main.start, main.end)), NEWLINE),
    NEWLINE,
  ];
  for (const [name, sections] of sectionsByName(manifest)) {
    if (!speaksOf(name)) continue;
    const sectionDigests = digest(...sections.map(({ start, end }) => bytes.subarray(start, end)));
    lines.push(
      manifestLine('Name', name, NEWLINE) + manifestLine(`${javaName}-Digest`, sectionDigests, NEWLINE) + NEWLINE,
    );
  }
  return Buffer.from(lines.join(''));
}
