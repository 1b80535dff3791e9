/** The SPC structures of Authenticode, encoded ("Authenticode-Specific Structures in the PKCS #7 SignedData"). */

import { SPC_INDIRECT_DATA, SPC_INDIVIDUAL_PURPOSE } from '../asn1/object-identifiers.ts';
import {
  contextConstructed,
  contextPrimitive,
  objectIdentifier,
  octetString,
  sequence,
  utf16be,
} from '../asn1/write.ts';
import { digestAlgorithm } from '../cms/build-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { SignedContent } from './container.ts';

/** What was digested, as SpcAttributeTypeAndOptionalValue: `type` dotted, `value` encoded. */
export interface SpcData {
  readonly type: string;
  readonly value: Uint8Array;
}

/** SpcIndirectDataContent: what was digested, and its digest. */
export function spcContent(data: SpcData, algorithm: DigestAlgorithm, contentDigest: Uint8Array): SignedContent {
  const value = sequence(
    sequence(objectIdentifier(data.type), data.value),
    sequence(digestAlgorithm(algorithm), octetString(contentDigest)),
  );
  return { type: SPC_INDIRECT_DATA, value };
}

/** SpcStatementType: individual, as signtool says of every certificate; the difference has lost its meaning. */
export function spcStatementType(): Uint8Array {
  return sequence(objectIdentifier(SPC_INDIVIDUAL_PURPOSE));
}

/**
 * SpcSpOpusInfo. The name is always a BMPString, as signtool writes it (osslsigncode takes IA5String for ASCII names, which
 * it fills with UTF-8 for the others). `url` must be ASCII.
 */
export function spcSpOpusInfo(description: string | undefined, url: string | undefined): Uint8Array {
  return sequence(
    ...(description === undefined ? [] : [contextConstructed(0, spcUnicode(description))]),
    ...(url === undefined ? [] : [contextConstructed(1, contextPrimitive(0, Buffer.from(url, 'latin1')))]),
  );
}

/** SpcString, unicode: `[0]` IMPLICIT BMPString. */
export function spcUnicode(text: string): Uint8Array {
  return contextPrimitive(0, utf16be(text));
}
