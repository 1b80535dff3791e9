import { createHash } from 'node:crypto';
import { COUNTER_SIGNATURE, SPC_NESTED_SIGNATURE, TIMESTAMP_TYPES } from '../asn1/object-identifiers.ts';
import { lazy } from '../bytes/reuse.ts';
import { type Attribute, buildSignedAttributes, buildSignedData } from '../cms/build-signed-data.ts';
import type { ParsedAttribute, SignedData, SignerInfo } from '../cms/parse-signed-data.ts';
import { replaceUnsignedAttributes } from '../cms/unsigned-attributes.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding, note, rejected, unsupported, warning } from '../errors/finding.ts';
import type { ReadTimestamps } from '../timestamp/read-timestamps.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { SigningContext, SigningUnit } from './signable-file.ts';
import { cmsEnvelope, type FoundSignature } from './signature.ts';

export interface SignatureProfile {
  /** Returns all attributes except contentType and messageDigest. Uses no time except `context.time`. */
  signedAttributes(context: SigningContext): readonly Attribute[];
  /** The root can be included only if the user provided it. */
  readonly carriesRoot: boolean;
  /** Types of the unsigned attributes in which `verifier` reads timestamps. A new timestamp uses the first type. */
  readonly timestampTypes: readonly [string, ...string[]];
  readonly readsNested?: boolean;
  readonly verifier: string;
}

export interface CmsContent {
  readonly type: string;
  readonly value?: Uint8Array | undefined;
  readonly messageDigest: Uint8Array;
}

/** The digest covers the signed attributes in DER. */
export function prepareCms(profile: SignatureProfile, context: SigningContext, content: CmsContent): SigningUnit {
  const { algorithm, chain } = context;
  const signedAttributes = buildSignedAttributes(
    content.type,
    content.messageDigest,
    profile.signedAttributes(context),
  );
  const certificates = (profile.carriesRoot ? chain.certificates : chain.withoutRoot).map(({ der }) => der);
  const [type] = profile.timestampTypes;
  return {
    name: 'signature',
    algorithm,
    digest: createHash(NODE_DIGEST_NAME[algorithm]).update(signedAttributes).digest(),
    timestamp: 'on-signature',
    seal: (signature, timestampToken) =>
      cmsEnvelope(
        buildSignedData({
          algorithm,
          content,
          certificates,
          signer: chain.leaf.fields,
          signedAttributes,
          signature,
          unsignedAttributes: timestampToken === undefined ? [] : [{ type, value: timestampToken }],
        }),
      ),
  };
}

export function stampCms({ timestampTypes }: SignatureProfile, cms: Uint8Array, token: Uint8Array): Uint8Array {
  const [type] = timestampTypes;
  return replaceUnsignedAttributes(cms, { type, value: token }, [...TIMESTAMP_TYPES, ...timestampTypes]);
}

export function timestampsOf(
  { timestampTypes }: SignatureProfile,
  signedData: SignedData,
  signer: SignerInfo,
  read: ReadTimestamps,
): readonly Timestamp[] {
  const stamps = signer.unsignedAttributes
    .filter(({ type }) => timestampTypes.includes(type))
    .flatMap(({ type, values }) => {
      const kind = type === COUNTER_SIGNATURE ? 'authenticode' : 'rfc3161';
      return values.map(({ bytes }) => ({ kind, bytes }) as const);
    });
  return read(stamps, { ...signedData, signers: [signer] });
}

interface CmsSignature extends Pick<FoundSignature, 'location' | 'details' | 'examine'> {
  /** The CMS signature without the bytes that follow it. */
  readonly cms: Uint8Array;
  /** `signedData` and `signer` are undefined if the CMS signature is unreadable. */
  readonly signedData: SignedData | undefined;
  readonly signer: SignerInfo | undefined;
  readonly contained?: FoundSignature['contained'];
  algorithm(): DigestAlgorithm | undefined;
  timestamps(): readonly Timestamp[];
}

/** Reads the algorithm and the timestamps on demand, so listing signatures does not verify timestamps. */
export function cmsSignature({ cms, signedData, signer, contained = [], ...own }: CmsSignature): FoundSignature {
  const timestamps = lazy(own.timestamps);
  const algorithm = lazy(own.algorithm);
  return {
    ...own,
    envelope: cmsEnvelope(cms),
    signer: { name: signer?.name ?? '(unreadable signature)', certificate: signer?.certificate },
    certificates: signedData?.certificates ?? [],
    value: signer?.signature,
    signedBytes: signer?.signedBytes,
    contained,
    get algorithm() {
      return algorithm();
    },
    get timestamps() {
      return timestamps();
    },
  };
}

/** Describes bytes that are stored where a signature should be, but cannot be read. */
export function unreadableCms(
  error: CodesignError,
  own: Pick<CmsSignature, 'location' | 'cms' | 'details'>,
): FoundSignature {
  const message = `The signature cannot be read: ${error.message}.`;
  return cmsSignature({
    ...own,
    signedData: undefined,
    signer: undefined,
    algorithm: () => undefined,
    timestamps: () => [],
    examine: async () => [rejected(error, 'signature-unreadable', message)],
  });
}

/** Reports timestamps and nested signatures in attributes that the verifiers of the format do not read. */
export function examineUnread(
  { timestampTypes, readsNested = false, verifier }: SignatureProfile,
  unsignedAttributes: readonly ParsedAttribute[],
): readonly Finding[] {
  const isThere = (type: string) => unsignedAttributes.some((attribute) => attribute.type === type);
  const unread = TIMESTAMP_TYPES.filter((type) => !timestampTypes.includes(type) && isThere(type));
  const findings = unread.map((type) => {
    const message = `A timestamp in the attribute ${type} has no effect: ${verifier} does not read this attribute.`;
    return warning('timestamp-not-read', message);
  });
  if (readsNested || !isThere(SPC_NESTED_SIGNATURE)) return findings;
  const message = `The nested signatures have no effect: ${verifier} does not read them.`;
  return [...findings, note('nested-signature-not-read', message)];
}

export const MD5_WEAK = broken(
  'digest-algorithm-weak',
  'The signature uses MD5, which proves nothing: different files can have the same digest.',
);

export const SHA1_AGING = warning(
  'digest-algorithm-aging',
  'The signature uses SHA-1, which is no longer secure. Sign with SHA256.',
);

export function examineSignerCount({ signers }: SignedData): readonly Finding[] {
  if (signers.length === 1) return [];
  return [unsupported('several-signers', `The signature has ${signers.length} signers.`)];
}

/** A repeated attribute is ambiguous, because programs read different values of it. */
export function examineRepeated({ signedAttributes }: SignerInfo): readonly Finding[] {
  const types = signedAttributes.map(({ type }) => type);
  const repeated = new Set(types.filter((type, index) => types.indexOf(type) !== index));
  if (repeated.size === 0) return [];
  const message = `These signed attributes occur several times: ${[...repeated].join(', ')}.`;
  return [broken('signed-attributes-repeated', message)];
}
