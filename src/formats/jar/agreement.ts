/** Whether a signature file speaks of a manifest as it is (JAR File Specification, "Signature Validation"). */

import { hash } from 'node:crypto';
import { nodeDigestName } from './digest-names.ts';
import { type Manifest, sectionsByName } from './manifest.ts';

const OF_MANIFEST = '-digest-manifest';
const OF_MAIN_ATTRIBUTES = '-digest-manifest-main-attributes';

/**
 * Java's rule: the digest of the whole manifest, or else that of its main attributes and every one of its sections'.
 * Entries that were added later leave a signature as good as it was.
 */
export function agrees(signatureFile: Manifest, manifest: Manifest): boolean {
  // Java takes a file of any other version for no signature.
  if (signatureFile.main.attributes.get('signature-version') !== '1.0') return false;
  if (mainDigests(signatureFile, OF_MANIFEST).some((digest) => isDigestOf(digest, [manifest.bytes]))) return true;
  const ofMain = mainDigests(signatureFile, OF_MAIN_ATTRIBUTES);
  const mainBytes = manifest.bytes.subarray(manifest.main.start, manifest.main.end);
  if (!ofMain.every((digest) => isDigestOf(digest, [mainBytes]))) return false;
  const sections = sectionsByName(manifest);
  for (const signed of signatureFile.sections()) {
    const known = signed.digests.filter(({ algorithm }) => nodeDigestName(algorithm) !== undefined);
    const parts = (sections.get(signed.name) ?? []).map(({ start, end }) => manifest.bytes.subarray(start, end));
    if (parts.length === 0 || known.length === 0 || !known.every((digest) => isDigestOf(digest, parts))) return false;
  }
  return true;
}

/** The entries that the signature is about. */
export function coveredNames(signatureFile: Manifest): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of signatureFile.sections()) names.add(name);
  return names;
}

interface Digest {
  readonly algorithm: string;
  readonly value: string;
}

/** Attributes such as `SHA-256-Digest-Manifest`, of algorithms that are known. */
function mainDigests({ main }: Manifest, suffix: string): readonly Digest[] {
  return [...main.attributes].flatMap(([name, value]) => {
    const algorithm = name.slice(0, -suffix.length);
    return name.endsWith(suffix) && nodeDigestName(algorithm) !== undefined ? [{ algorithm, value }] : [];
  });
}

/** Of an entry's sections, which are usually one: all of them, one after the other. */
function isDigestOf({ algorithm, value }: Digest, parts: readonly Buffer[]): boolean {
  return sectionDigest(nodeDigestName(algorithm) ?? '', parts) === value;
}

/** Base64. `algorithm`: as node:crypto calls it. */
export function sectionDigest(algorithm: string, parts: readonly Buffer[]): string {
  const [only] = parts;
  return hash(algorithm, parts.length === 1 && only !== undefined ? only : Buffer.concat(parts), 'base64');
}
