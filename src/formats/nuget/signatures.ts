import { DIGEST_NAME_BY_OID, digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { COUNTER_SIGNATURE, DATA } from '../../asn1/object-identifiers.ts';
import { lazy } from '../../bytes/reuse.ts';
import { attributeValues, parseSignedData, type SignedData, type SignerInfo } from '../../cms/parse-signed-data.ts';
import { examineSigner } from '../../cms/verify-signer.ts';
import { byStrength, type DigestAlgorithm } from '../../crypto/algorithms.ts';
import type { WorkBudget } from '../../crypto/work-budget.ts';
import { attempt, CodesignError } from '../../errors/codesign-error.ts';
import { broken, type Finding, rejected, unsupported } from '../../errors/finding.ts';
import {
  cmsSignature,
  examineRepeated,
  examineSignerCount,
  examineUnread,
  timestampsOf,
  unreadableCms,
} from '../../format/cms.ts';
import type { Detail, FoundSignature } from '../../format/signature.ts';
import { timestampReader } from '../../timestamp/read-timestamps.ts';
import type { Timestamp } from '../../timestamp/timestamp.ts';
import { SIGNATURE_NAME, type StoredSignature } from './package.ts';
import { NUGET_PROFILE, readSignedText, type SignedText } from './signed-content.ts';
import { countersignersOf, describeSigner, examineAttributes, roleOf } from './signers.ts';

export type DigestBy = (algorithm: DigestAlgorithm) => Promise<Uint8Array>;

export function readCms(bytes: StoredSignature['cms']): SignedData | CodesignError {
  return bytes instanceof CodesignError ? bytes : attempt(() => parseSignedData(bytes));
}

export function embeddedSignature(cms: StoredSignature['cms'], digestBy: DigestBy, budget: WorkBudget): FoundSignature {
  const signedData = readCms(cms);
  if (signedData instanceof CodesignError) {
    const bytes = cms instanceof CodesignError ? new Uint8Array() : cms;
    return unreadableCms(signedData, { location: SIGNATURE_NAME, cms: bytes, details: async () => [] });
  }
  const [signer] = signedData.signers;
  const text = readSignedText(signedData);
  const readTimestamps = timestampReader(budget);
  const countersigners = countersignersOf(signedData);
  const matches = async () =>
    text?.algorithm !== undefined && Buffer.compare(await digestBy(text.algorithm), text.digest) === 0;
  const of = (
    one: SignerInfo,
    own: Omit<Parameters<typeof cmsSignature>[0], 'cms' | 'signedData' | 'signer' | 'timestamps'>,
  ) => {
    const timestamps = lazy(() => timestampsOf(NUGET_PROFILE, signedData, one, readTimestamps));
    return cmsSignature({
      ...own,
      cms: signedData.bytes,
      signedData,
      signer: one,
      timestamps,
      examine: async () => [...(await own.examine()), ...examineCommon(one, timestamps())],
    });
  };
  const coSigners = countersigners
    .filter((one): one is SignerInfo => !(one instanceof CodesignError))
    .map((one) =>
      of(one, {
        location: `${SIGNATURE_NAME}, ${nameOf(one)}`,
        algorithm: () => digestAlgorithmOf(one.digestAlgorithm),
        details: async () => [],
        examine: async () => examineSigner({ contentType: DATA }, one, signer.signature, { ...RULES, budget }),
      }),
    );
  return of(signer, {
    location: SIGNATURE_NAME,
    algorithm: () => byStrength([text?.algorithm, digestAlgorithmOf(signer.digestAlgorithm)])?.[0],
    contained: coSigners.map((signature) => ({ as: 'co-signer', signature })),
    details: async () => describe(text, signer, countersigners, await matches()),
    examine: async () => [
      ...contentFindings(text, await matches()),
      ...signersFindings(signedData, countersigners),
      ...(text === undefined ? [] : examineSigner(signedData, signer, text.bytes, { budget })),
    ],
  });
}

/** A countersignature has no contentType (RFC 5652, section 11.4), or the same contentType as the signature. */
const RULES = { contentTypes: [undefined, DATA] };

function nameOf(countersigner: SignerInfo): string {
  return roleOf(countersigner) === 'repository' ? 'repository countersignature' : 'countersignature';
}

function contentFindings(text: SignedText | undefined, matches: boolean): readonly Finding[] {
  if (text === undefined) {
    return [broken('signed-kind-differs', 'The content of the signature is not that of a package signature.')];
  }
  const digestName = DIGEST_NAME_BY_OID[text.digestOid];
  if (digestName === undefined) {
    const message = `The signature uses the digest algorithm ${text.digestOid}, which is not supported.`;
    return [unsupported('digest-algorithm-unknown', message)];
  }
  if (text.algorithm === undefined || text.algorithm === 'SHA1') {
    return [broken('digest-algorithm-weak', `NuGet does not accept a package digest with ${digestName}.`)];
  }
  if (matches) return [];
  const message =
    "The package's digest differs from the signed one: the package was changed, or the signature belongs to another package.";
  return [broken('content-digest-differs', message)];
}

function* signersFindings(
  signedData: SignedData,
  countersigners: readonly (SignerInfo | CodesignError)[],
): Generator<Finding> {
  const { signers, trailingLength } = signedData;
  const count = attributeValues(signers[0].unsignedAttributes, COUNTER_SIGNATURE).length;
  if (count > countersigners.length) {
    const message = `The signature has ${count} countersignatures, but this program reads only ${countersigners.length}.`;
    yield unsupported('several-countersignatures', message);
  }
  if (trailingLength > 0) yield broken('hidden-bytes', 'Bytes that no signature covers follow the signature.');
  yield* examineSignerCount(signedData);
  for (const one of countersigners) {
    if (!(one instanceof CodesignError)) continue;
    yield rejected(one, 'countersignature-unreadable', `A countersignature cannot be read: ${one.message}.`);
  }
  const repositories = countersigners.filter((one) => !(one instanceof CodesignError) && roleOf(one) === 'repository');
  const isRepository = roleOf(signers[0]) === 'repository';
  if (repositories.length + (isRepository ? 1 : 0) > 1) {
    yield broken('several-repositories', 'The package has several repository signatures, but NuGet accepts only one.');
  }
}

function* examineCommon(signer: SignerInfo, timestamps: readonly Timestamp[]): Generator<Finding> {
  yield* examineAttributes(signer);
  yield* examineRepeated(signer);
  if (['md5', 'sha1'].includes(DIGEST_NAME_BY_OID[signer.digestAlgorithm] ?? '')) {
    yield broken('digest-algorithm-weak', 'NuGet does not accept a signature with SHA-1 or MD5.');
  }
  if (timestamps.length > 1) {
    const message = `The signature has ${timestamps.length} timestamps, but NuGet accepts only one.`;
    yield broken('several-timestamps', message);
  }
  const others = signer.unsignedAttributes.filter(({ type }) => type !== COUNTER_SIGNATURE);
  yield* examineUnread(NUGET_PROFILE, others);
}

const ROLES = { author: 'author', repository: 'repository', unknown: 'not said (no commitment type)' } as const;

function describe(
  text: SignedText | undefined,
  signer: SignerInfo,
  countersigners: readonly (SignerInfo | CodesignError)[],
  matches: boolean,
): readonly Detail[] {
  const digest = text && `${text.algorithm ?? text.digestOid} ${Buffer.from(text.digest).toString('hex')}`;
  return [
    { name: 'signature of', value: ROLES[roleOf(signer)] },
    {
      name: 'content digest',
      value: digest === undefined ? 'none' : `${digest} (${matches ? 'matches' : 'does not match'})`,
    },
    ...describeSigner(signer, ''),
    ...countersigners.flatMap((one) =>
      one instanceof CodesignError
        ? []
        : [{ name: nameOf(one), value: one.name }, ...describeSigner(one, `${nameOf(one)}, `)],
    ),
  ];
}
