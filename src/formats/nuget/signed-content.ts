import { DIGEST_OID, digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import {
  COMMITMENT_TYPE,
  DATA,
  PROOF_OF_ORIGIN,
  SIGNING_TIME,
  TIMESTAMP_TOKEN,
} from '../../asn1/object-identifiers.ts';
import { octetsOf } from '../../asn1/read.ts';
import { encodeTime } from '../../asn1/times.ts';
import { objectIdentifier, sequence } from '../../asn1/write.ts';
import { signingCertificate } from '../../cms/build-signed-data.ts';
import type { SignedData } from '../../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import type { SignatureProfile } from '../../format/cms.ts';

/** Like `dotnet nuget sign`, includes the whole chain. */
export const NUGET_PROFILE: SignatureProfile = {
  signedAttributes: ({ time, chain }) => [
    { type: SIGNING_TIME, value: encodeTime(time) },
    { type: COMMITMENT_TYPE, value: sequence(objectIdentifier(PROOF_OF_ORIGIN)) },
    signingCertificate(chain.leaf.der, { withIssuerSerial: true }),
  ],
  carriesRoot: true,
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'NuGet',
};

export function signedText(algorithm: DigestAlgorithm, digest: Uint8Array): Buffer {
  return Buffer.from(`Version:1\n\n${DIGEST_OID[algorithm]}-Hash:${Buffer.from(digest).toString('base64')}\n\n`);
}

export interface SignedText {
  readonly bytes: Uint8Array;
  readonly digestOid: string;
  readonly algorithm: DigestAlgorithm | undefined;
  readonly digest: Uint8Array;
}

const TEXT = /^Version:1(\r?\n)\1([0-9.]+)-Hash:([A-Za-z0-9+/]+={0,2})\1\1$/;
const LONGEST_TEXT = 1024;

/** Accepts CR LF too. Returns undefined if the content is not the text of a package signature. */
export function readSignedText({
  contentType,
  content,
}: Pick<SignedData, 'contentType' | 'content'>): SignedText | undefined {
  const bytes = contentType === DATA && content ? orUndefined(() => octetsOf(content, 'content')) : undefined;
  if (bytes === undefined || bytes.length > LONGEST_TEXT) return undefined;
  const [, , digestOid, base64] = TEXT.exec(Buffer.from(bytes).toString('latin1')) ?? [];
  if (digestOid === undefined || base64 === undefined) return undefined;
  return { bytes, digestOid, algorithm: digestAlgorithmOf(digestOid), digest: Buffer.from(base64, 'base64') };
}
