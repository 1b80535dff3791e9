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
import { orUndefined } from '../errors/codesign-error.ts';
import type { Detail } from '../format/signature.ts';
import { contentMatches, type SignedFile } from './examine-authenticode.ts';
import { AUTHENTICODE_PROFILE } from './profile.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';
import { readOpusInfo, readStatementTypes } from './spc-structures.ts';

const PURPOSES: ReadonlyMap<string, string> = new Map([
  [SPC_INDIVIDUAL_PURPOSE, 'individual'],
  [SPC_COMMERCIAL_PURPOSE, 'commercial'],
]);

/** They occur in every signature, or are shown elsewhere. */
const SIGNED_SHOWN = [SIGNING_TIME, CONTENT_TYPE, MESSAGE_DIGEST, SPC_SP_OPUS_INFO, SPC_STATEMENT_TYPE];
const UNSIGNED_SHOWN = [SPC_NESTED_SIGNATURE, ...AUTHENTICODE_PROFILE.timestampTypes];
/** A hostile signature can have thousands of attribute types. */
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
  const names = types.slice(0, MOST_NAMES).map((type) => attributeName(type));
  const rest = types.length > MOST_NAMES ? [`and ${types.length - MOST_NAMES} more`] : [];
  return [{ name, value: [...names, ...rest].join(', ') }];
}

function attributeName(type: string): string {
  const name = objectName(type) ?? type;
  return type === TIMESTAMP_TOKEN ? `${name} (Windows does not read it)` : name;
}

/** Verifiers read only the first value. */
function describeFirst(
  [value]: readonly Element[],
  name: string,
  describe: (value: Element) => readonly Detail[],
): readonly Detail[] {
  if (value === undefined) return [];
  return orUndefined(() => describe(value)) ?? [{ name, value: 'unreadable' }];
}
