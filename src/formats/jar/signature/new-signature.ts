/** Building the signature file, NAME.SF (JAR File Specification, "Signature File"): digests of the manifest, whole and in parts. */

import { TIMESTAMP_TOKEN } from '../../../asn1/object-identifiers.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../crypto/algorithms.ts';
import type { SignatureProfile } from '../../format.ts';
import { jarErrors } from '../errors.ts';
import { sectionDigest } from '../manifest/agreement.ts';
import { JAVA_DIGEST_NAME } from '../manifest/digest-names.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { partsByName } from '../manifest/sections.ts';
import { CREATED_BY, manifestLine, textWriter } from '../manifest/text-writer.ts';
import type { EmbeddedBlock } from './blocks.ts';

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

/**
 * No signingTime: the same archive gives the same bytes. The root goes in too, where it was given: jarsigner looks for one of
 * the certificates in the user's store.
 */
export const JAR_PROFILE: SignatureProfile = {
  signedAttributes: () => [],
  carriesRoot: true,
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'Java',
};

const LONGEST = 8;

/** Upper case, at most 8 of A–Z, 0–9, `_` and `-`; any other character becomes `_`, as jarsigner makes it of an alias. */
export function blockName(wanted: string): string {
  const name = wanted.toUpperCase().replace(/[^A-Z0-9_-]/gu, '_');
  return name.slice(0, LONGEST) || 'SIGNER';
}

export interface NameRequest {
  /** What the user asked for; undefined for a name made of the certificate's. */
  readonly signerName: string | undefined;
  readonly leaf: { readonly der: Uint8Array; readonly name: string };
  /** The signatures that stay beside the new one. */
  readonly others: readonly Pick<EmbeddedBlock, 'base' | 'signerCertificate' | 'signerName'>[];
}

/** A name that no other certificate's signature has. Throws `signer-name-taken`. */
export function chooseBlockName({ signerName, leaf, others }: NameRequest): string {
  const takenBy = (name: string) =>
    others.find((other) => other.base === name && !sameBytes(other.signerCertificate, leaf.der));
  if (signerName !== undefined) {
    const name = blockName(signerName);
    const other = takenBy(name);
    if (other !== undefined) throw jarErrors('signer-name-taken', { name, signer: other.signerName });
    return name;
  }
  const name = blockName(leaf.name);
  if (takenBy(name) === undefined) return name;
  for (let number = 2; ; number++) {
    const distinct = `${name.slice(0, LONGEST - String(number).length)}${number}`;
    if (takenBy(distinct) === undefined) return distinct;
  }
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
