import { TIMESTAMP_TOKEN } from '../../../asn1/object-identifiers.ts';
import type { Certificate } from '../../../certificates/certificate.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../crypto/algorithms.ts';
import type { SignatureProfile } from '../../../format/cms.ts';
import { jarErrors } from '../errors.ts';
import { type NamedSections, sectionDigest, sectionsByName } from '../manifest/agreement.ts';
import { CREATED_BY, encodeText, manifestLine } from '../manifest/complete.ts';
import { JAVA_DIGEST_NAME } from '../manifest/digest-names.ts';
import type { Manifest, SectionRange } from '../manifest/manifest.ts';
import type { EmbeddedBlock } from './blocks.ts';

const NEWLINE = '\r\n';

/**
 * Signs the sections for which `isSigned` returns true. With `mayRepeat`, one digest covers all sections with the same
 * name.
 */
export function buildSignatureFile(
  manifest: Manifest,
  algorithm: DigestAlgorithm,
  isSigned: (name: string) => boolean,
  mayRepeat: boolean,
): Buffer {
  const { bytes, main } = manifest;
  const digest = (ranges: readonly SectionRange[]): string =>
    sectionDigest(
      NODE_DIGEST_NAME[algorithm],
      ranges.map(({ start, end }) => bytes.subarray(start, end)),
    );
  const javaName = JAVA_DIGEST_NAME[algorithm];
  const line = (name: string, value: string): string => manifestLine(name, value, NEWLINE);
  function* lines(): Generator<string> {
    yield line('Signature-Version', '1.0');
    yield line('Created-By', CREATED_BY);
    yield line(`${javaName}-Digest-Manifest`, digest([{ start: 0, end: bytes.length }]));
    yield line(`${javaName}-Digest-Manifest-Main-Attributes`, digest([main])) + NEWLINE;
    for (const { name, ranges } of mayRepeat ? sectionsByName(manifest).entries() : singleSections(manifest)) {
      if (isSigned(name)) yield line('Name', name) + line(`${javaName}-Digest`, digest(ranges)) + NEWLINE;
    }
  }
  return encodeText(lines());
}

function* singleSections(manifest: Manifest): Generator<NamedSections> {
  for (const { name, start, end } of manifest.sections()) yield { name, ranges: [{ start, end }] };
}

/**
 * Without signingTime, signing again gives the same bytes. Includes the root, because jarsigner looks for one of the
 * certificates in the keystore.
 */
export const JAR_PROFILE: SignatureProfile = {
  signedAttributes: () => [],
  carriesRoot: true,
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'Java',
};

const LONGEST = 8;

/** Like jarsigner, derives the base name of the signature files from a text such as an alias. */
export function blockName(wanted: string): string {
  const name = wanted.toUpperCase().replace(/[^A-Z0-9_-]/gu, '_');
  return name.slice(0, LONGEST) || 'SIGNER';
}

/** Returns a name that no signature with another certificate has. `others` are the existing signatures. */
export function chooseBlockName(
  signerName: string | undefined,
  leaf: Certificate,
  others: readonly Pick<EmbeddedBlock, 'base' | 'signer'>[],
): string {
  const takenBy = (name: string) =>
    others.find(
      ({ base, signer: { certificate } }) =>
        base === name && (certificate === undefined || Buffer.compare(certificate, leaf.der) !== 0),
    );
  if (signerName !== undefined) {
    const name = blockName(signerName);
    const other = takenBy(name);
    if (other !== undefined) throw jarErrors('signer-name-taken', { name, signer: other.signer.name });
    return name;
  }
  const name = blockName(leaf.name);
  if (takenBy(name) === undefined) return name;
  for (let number = 2; ; number++) {
    const distinct = `${name.slice(0, LONGEST - String(number).length)}${number}`;
    if (takenBy(distinct) === undefined) return distinct;
  }
}
