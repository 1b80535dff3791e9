/** The one walk through SignedData and SignerInfo (RFC 5652, 5.1 and 5.3): which part is which, hardly any looked into. */

import { SIGNED_DATA } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, firstParts, objectIdentifierOf, onlyPart, readElement } from '../asn1/read.ts';
import { cmsErrors } from './errors.ts';

export interface SignedDataFields {
  readonly contentInfo: Element;
  /** The `[0]` round the SignedData. */
  readonly tagged: Element;
  readonly signedData: Element;
  readonly encapsulatedContent: Element;
  readonly certificates: Element | undefined;
  /** The SET. */
  readonly signerInfos: Element;
  /** What is in the SET, one at least. */
  readonly signers: readonly [Element, ...Element[]];
}

export interface SignerInfoFields {
  readonly identifier: Element;
  readonly digestAlgorithm: Element;
  /** Under `[0]`. */
  readonly signedAttributes: Element | undefined;
  readonly signatureAlgorithm: Element;
  readonly signature: Element;
  /** Under `[1]`. */
  readonly unsignedAttributes: Element | undefined;
}

export interface AttributeFields {
  /** Dotted object identifier. */
  readonly type: string;
  /** The SET. */
  readonly values: Element;
}

/** One, in every signature that a verifier of today takes. */
const MAX_SIGNERS = 16;

/** Of the ContentInfo at the start of `bytes`. Throws `asn1-malformed`, `cms-not-signed-data`, `cms-without-signer`, `cms-too-large`. */
export function readSignedDataFields(bytes: Uint8Array): SignedDataFields {
  const contentInfo = readElement(bytes, 'ContentInfo');
  const outer = fieldsOf(contentInfo, 0x30, 'ContentInfo');
  const type = objectIdentifierOf(outer.next(0x06, 'type'), 'ContentInfo, type');
  if (type !== SIGNED_DATA) throw cmsErrors('cms-not-signed-data', { type });
  const tagged = outer.next(0xa0, 'content');
  outer.end();
  const signedData = onlyPart(tagged, 'ContentInfo, content');

  const fields = fieldsOf(signedData, 0x30, 'SignedData');
  fields.next(0x02, 'version');
  expectAlgorithms(fields.next(0x31, 'digestAlgorithms'));
  const encapsulatedContent = fields.next(0x30, 'content');
  const certificates = fields.optional(0xa0);
  fields.optional(0xa1); // revocation lists
  const signerInfos = fields.next(0x31, 'signerInfos');
  fields.end();
  const [first, ...others] = partsUpTo(MAX_SIGNERS, signerInfos, 'signers');
  if (first === undefined) throw cmsErrors('cms-without-signer');
  return {
    contentInfo,
    tagged,
    signedData,
    encapsulatedContent,
    certificates,
    signerInfos,
    signers: [first, ...others],
  };
}

/** Nothing hangs on which they are; others who read the signature refuse it when they are none. */
function expectAlgorithms(set: Element): void {
  for (const algorithm of partsUpTo(MAX_SIGNERS, set, 'digest algorithms')) {
    fieldsOf(algorithm, 0x30, 'digest algorithm').next(0x06, 'identifier');
  }
}

/** Throws `asn1-malformed`. */
export function readSignerInfoFields(signer: Element): SignerInfoFields {
  const fields = fieldsOf(signer, 0x30, 'SignerInfo');
  fields.next(0x02, 'version');
  const found = {
    identifier: fields.any('signer identifier'),
    digestAlgorithm: fields.next(0x30, 'digest algorithm'),
    signedAttributes: fields.optional(0xa0),
    signatureAlgorithm: fields.next(0x30, 'signature algorithm'),
    signature: fields.any('signature'),
    unsignedAttributes: fields.optional(0xa1),
  };
  fields.end();
  return found;
}

/** Throws `asn1-malformed`. */
export function readAttributeFields(attribute: Element): AttributeFields {
  const fields = fieldsOf(attribute, 0x30, 'attribute');
  const type = objectIdentifierOf(fields.next(0x06, 'type'), 'attribute type');
  const values = fields.next(0x31, 'values');
  fields.end();
  return { type, values };
}

/** The parts of an element that has no more than so many. Throws `asn1-malformed`, and `cms-too-large` having read just one more. */
export function partsUpTo(limit: number, element: Element, what: string): readonly Element[] {
  const found = firstParts(element, what, limit + 1);
  if (found.length > limit) throw cmsErrors('cms-too-large', { limit, what });
  return found;
}
