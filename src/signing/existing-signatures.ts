import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isSameBytes } from '../bytes/byte-source.ts';
import { type Certificate, isReadableCertificate, readCertificateFields } from '../certificates/certificate.ts';
import { readName } from '../certificates/names.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { asClause, hasFindingAgainst, isBroken } from '../errors/finding.ts';
import { formatErrors } from '../format/errors.ts';
import type { Format } from '../format/format.ts';
import type { SignableFile, SigningContext } from '../format/signable-file.ts';
import { containedAs, type FoundSignature, withNested } from '../format/signature.ts';
import type { Account } from './service/account.ts';

/** Names of the signers, including co-signers and countersigners, without duplicates. */
export function signerNames(signatures: readonly FoundSignature[]): string[] {
  const all = withNested(signatures).flatMap((signature) => [signature, ...containedAs('co-signer', signature)]);
  return [...new Set(all.map(({ signer }) => signer.name))];
}

/** No signature counts as intact if the file itself is damaged. */
export async function hasIntact(
  opened: SignableFile,
  signatures: readonly FoundSignature[],
  isMeant: (signature: FoundSignature) => boolean,
): Promise<boolean> {
  for (const signature of withNested(signatures)) {
    if (isMeant(signature) && (await isIntact(signature)))
      return !hasFindingAgainst(await opened.examine(), 'integrity');
  }
  return false;
}

/** Throws `cannot-append` if a signature or timestamp that stays is broken, because `verify` would reject the file. */
export async function requireUnbroken(
  opened: Pick<SignableFile, 'examine'>,
  staying: readonly FoundSignature[],
  { signing }: Pick<Format, 'signing'>,
): Promise<void> {
  const isAppendOnly = !signing?.modes.includes('replace');
  const refused = (reason: string) => formatErrors('cannot-append', { reason, isAppendOnly });
  for (const { location, certificates, timestamps, examine } of withNested(staying)) {
    // Some verifiers read no signature in a file if one certificate in it is unreadable.
    if (!certificates.every(isReadableCertificate)) throw refused(`a certificate of ${location} cannot be read`);
    const findings = [...(await examine()), ...timestamps.flatMap((timestamp) => timestamp.findings)];
    const found = findings.find(isBroken);
    if (found !== undefined) throw refused(`the signature there is broken (${location}): ${asClause(found)}`);
  }
  const isKept = isAppendOnly || staying.length > 0;
  const found = isKept ? (await opened.examine()).find(isBroken) : undefined;
  if (found !== undefined) throw refused(`the file is broken: ${asClause(found)}`);
}

export function isBy({ der }: Certificate): (signature: FoundSignature) => boolean {
  return ({ signer: { certificate } }) => certificate !== undefined && isSameBytes(certificate, der);
}

export function isByOtherThan({ der }: Certificate): (signature: FoundSignature) => boolean {
  const own = publisherOf(der);
  return ({ signer: { certificate } }) => {
    const publisher = certificate && orUndefined(() => publisherOf(certificate));
    return publisher !== undefined && publisher !== own;
  };
}

function publisherOf(certificate: Uint8Array): string {
  return readName(readCertificateFields(certificate).subject).publisher;
}

export async function isIntact(signature: FoundSignature): Promise<boolean> {
  return !hasFindingAgainst(await signature.examine(), 'integrity');
}

export interface WrittenSignature {
  readonly signature: FoundSignature;
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
}

export type FindWritten = (
  signatures: readonly FoundSignature[],
  context: SigningContext,
) => Promise<WrittenSignature | undefined>;

/**
 * Finds an intact signature of this certificate that, according to the journal, a run with the same options requested.
 * A digest of the file cannot find this signature, because in some formats a signature changes what the next one covers.
 */
export function findWrittenWith({ journal, origin, code }: Account): FindWritten {
  return async (signatures, { algorithm, chain, timestampAlgorithm, formatOptions }) => {
    for (const signature of withNested(signatures).filter(isBy(chain.leaf))) {
      const { signedBytes } = signature;
      if (signedBytes === undefined) continue;
      if (timestampAlgorithm !== undefined && signature.timestamps.length === 0) continue;
      const digest = createHash(NODE_DIGEST_NAME[algorithm]).update(signedBytes).digest();
      const known = await journal.knownFor({ origin, code, algorithm, digest: digest.toString('hex') });
      if (!known.some((options) => isDeepStrictEqual({ ...options.formatOptions }, { ...formatOptions }))) continue;
      if (await isIntact(signature)) return { signature, digest, algorithm };
    }
    return undefined;
  };
}
