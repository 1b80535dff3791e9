/** The manifest without what signing puts into it. */

import { OWN_MANIFEST } from './complete-manifest.ts';
import { nodeDigestName } from './digest-names.ts';
import type { DigestAttribute, Manifest, ManifestSection } from './manifest.ts';

/**
 * Its bytes without digests of contents, and without the sections that then hold nothing but their name; undefined when
 * nothing is left but what this program writes where there is no manifest. A section that held only its name before signing
 * goes too, as do digests that were there: what a signer added does not show.
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

/** By any algorithm that signing programs have used; jarsigner once knew MD2. */
function isOfContents({ algorithm }: DigestAttribute): boolean {
  return nodeDigestName(algorithm) !== undefined || algorithm.toUpperCase() === 'MD2';
}

function holdsNothingElse(
  { start, nameEnd, contentEnd }: ManifestSection,
  digests: readonly DigestAttribute[],
): boolean {
  return digests.reduce((sum, digest) => sum + digest.end - digest.start, nameEnd - start) === contentEnd - start;
}
