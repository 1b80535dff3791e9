import {
  CONTENT_TYPE,
  MESSAGE_DIGEST,
  SIGNING_TIME,
  SPC_COMMERCIAL_PURPOSE,
  SPC_INDIVIDUAL_PURPOSE,
  SPC_NESTED_SIGNATURE,
  SPC_SP_OPUS_INFO,
  SPC_STATEMENT_TYPE,
  TIMESTAMP_TOKEN,
} from '../asn1/object-identifiers.ts';
import { objectName } from '../asn1/object-names.ts';
import type { Element } from '../asn1/read.ts';
import { readTime } from '../asn1/times.ts';
import { attributeValues, type ParsedAttribute } from '../cms/parse-signed-data.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { listedUpTo } from '../errors/plural.ts';
import { cmsSignature, timestampsOf } from '../format/cms.ts';
import type { Detail, FoundSignature } from '../format/signature.ts';
import { timestampReader } from '../timestamp/read-timestamps.ts';
import type { CmsEntry, Container, MeasuredContent } from './container.ts';
import { authenticodeErrors } from './errors.ts';
import { contentMatches, examineAuthenticode, type SignedFile } from './examine-authenticode.ts';
import { AUTHENTICODE_PROFILE } from './profile.ts';
import {
  type AuthenticodeParts,
  type FoundCms,
  findAuthenticode,
  signatureBudget,
  unreadableSignature,
} from './read-authenticode.ts';
import { readOpusInfo, readStatementTypes } from './spc-structures.ts';

export interface LocatedSignature {
  readonly entry: CmsEntry;
  readonly found: FoundCms;
}

/** Returns one element for each entry, even if the entry is unreadable. */
export function findSignatures({ entries, kind }: Container): readonly LocatedSignature[] {
  const budget = signatureBudget();
  const tooLong = authenticodeErrors('authenticode-malformed', { problem: 'it is too long' });
  return entries.map((entry) => {
    if (entry.cms === undefined) return { entry, found: unreadableSignature(new Uint8Array(), tooLong) };
    return { entry, found: findAuthenticode(entry.cms, budget, kind.contentType) };
  });
}

export function embeddedSignatures(
  located: readonly LocatedSignature[],
  { kind, compare }: Container,
  measured: () => Promise<MeasuredContent>,
  budget: WorkBudget,
): readonly FoundSignature[] {
  const read = timestampReader(budget);
  const signedFile = async (): Promise<SignedFile> => ({ ...kind, digests: (await measured()).digests });
  const embedded = (found: FoundCms, location: string, entry?: CmsEntry): FoundSignature => {
    const { cms, parts, signedData } = found;
    const nested = found.nested.map((inner, index) => embedded(inner, nestedLocation(location, index)));
    return cmsSignature({
      location,
      cms,
      signedData,
      signer: signedData?.signers[0],
      algorithm: () => parts?.algorithm,
      timestamps: () =>
        parts === undefined
          ? []
          : timestampsOf(AUTHENTICODE_PROFILE, parts.signedData, parts.signedData.signers[0], read),
      contained: nested.map((signature) => ({ as: 'nested', signature })),
      details: async () => (parts === undefined ? [] : describeAuthenticode(parts, await signedFile())),
      examine: async () => [
        ...examineAuthenticode(found, await signedFile(), budget),
        ...((parts && (await compare?.(parts))) ?? []),
        ...(entry?.examine?.() ?? []),
      ],
    });
  };
  return located.map(({ entry, found }) => embedded(found, entry.location, entry));
}

export function nestedLocation(outer: string, index: number): string {
  return `nested signature ${index + 1} in ${outer}`;
}

const PURPOSES: ReadonlyMap<string, string> = new Map([
  [SPC_INDIVIDUAL_PURPOSE, 'individual'],
  [SPC_COMMERCIAL_PURPOSE, 'commercial'],
]);

/** Attributes that occur in every signature, or that `inspect` shows in another place. */
const SIGNED_SHOWN = [SIGNING_TIME, CONTENT_TYPE, MESSAGE_DIGEST, SPC_SP_OPUS_INFO, SPC_STATEMENT_TYPE];
const UNSIGNED_SHOWN = [SPC_NESTED_SIGNATURE, ...AUTHENTICODE_PROFILE.timestampTypes];
const MOST_NAMES = 16;

export function describeAuthenticode(parts: AuthenticodeParts, file: SignedFile): readonly Detail[] {
  const { signedAttributes, unsignedAttributes } = parts.signedData.signers[0];
  return [
    ...describeDigest(parts, file),
    ...describeFirst(attributeValues(signedAttributes, SPC_SP_OPUS_INFO), 'description', describeOpusInfo),
    ...describeFirst(attributeValues(signedAttributes, SPC_STATEMENT_TYPE), 'statement type', (value) => [
      {
        name: 'statement type',
        value: readStatementTypes(value)
          .map((purpose) => PURPOSES.get(purpose) ?? purpose)
          .join(', '),
      },
    ]),
    ...describeFirst(attributeValues(signedAttributes, SIGNING_TIME), 'signing time', (value) => [
      { name: 'signing time', value: `${readTime(value, 'signing time').toISOString()} (as the signer says)` },
    ]),
    ...describeValue(parts, file),
    ...describeOthers('other signed attributes', signedAttributes, SIGNED_SHOWN),
    ...describeOthers('other unsigned attributes', unsignedAttributes, UNSIGNED_SHOWN),
  ];
}

function describeDigest(parts: AuthenticodeParts, file: SignedFile): readonly Detail[] {
  const { contentDigestAlgorithm: algorithm, contentDigestOid, contentDigest } = parts;
  const matches = contentMatches(parts, file);
  const result = matches === undefined ? 'not computed' : matches ? 'matches' : 'does not match';
  const isKnown = algorithm !== undefined && algorithm !== 'MD5';
  const list = isKnown ? (file.describeDigest?.(contentDigest, algorithm, file.digests.get(algorithm)) ?? []) : [];
  const digest = list.length > 0 ? `, ${list.length} digests` : ` ${Buffer.from(contentDigest).toString('hex')}`;
  return [{ name: 'content digest', value: `${algorithm ?? contentDigestOid}${digest} (${result})` }, ...list];
}

function describeOpusInfo(value: Element): readonly Detail[] {
  const { description, url } = readOpusInfo(value);
  return [
    ...(description ? [{ name: 'description', value: description }] : []),
    ...(url ? [{ name: 'web page', value: url }] : []),
  ];
}

function describeValue({ dataType, dataValue }: AuthenticodeParts, file: SignedFile): readonly Detail[] {
  const { value, otherTypes = [] } = file;
  const isUsual = dataType === file.dataType;
  if (!isUsual && !otherTypes.includes(dataType)) return [{ name: 'made for', value: dataType }];
  return [
    ...(isUsual ? [] : [{ name: 'data type', value: dataType }]),
    ...(dataValue === undefined || value === undefined ? [] : describeFirst([dataValue], value.name, value.describe)),
  ];
}

function describeOthers(
  name: string,
  attributes: readonly ParsedAttribute[],
  shown: readonly string[],
): readonly Detail[] {
  const types = [...new Set(attributes.map(({ type }) => type))].filter((type) => !shown.includes(type));
  if (types.length === 0) return [];
  return [{ name, value: listedUpTo(MOST_NAMES, types.map(attributeName)) }];
}

function attributeName(type: string): string {
  const name = objectName(type) ?? type;
  return type === TIMESTAMP_TOKEN ? `${name} (Windows does not read it)` : name;
}

/** Verifiers read only the first value of an attribute. */
function describeFirst(
  [value]: readonly Element[],
  name: string,
  describe: (value: Element) => readonly Detail[],
): readonly Detail[] {
  if (value === undefined) return [];
  return orUndefined(() => describe(value)) ?? [{ name, value: 'unreadable' }];
}
