import { SIGNED_DATA } from '../asn1/object-identifiers.ts';
import {
  algorithmOf,
  type Element,
  fieldsOf,
  firstParts,
  objectIdentifierOf,
  onlyPart,
  readElement,
} from '../asn1/read.ts';
import { cmsErrors } from './errors.ts';

/** Current verifiers accept only one signer. */
const MAX_SIGNERS = 16;

export function readSignedDataFields(bytes: Uint8Array) {
  const fields = readSignedDataParts(bytes);
  const [first, ...others] = fields.signers;
  if (first === undefined) throw cmsErrors('cms-without-signer');
  return { ...fields, signers: [first, ...others] as const };
}

export function readSignedDataParts(bytes: Uint8Array) {
  const contentInfo = readElement(bytes, 'ContentInfo');
  const outer = fieldsOf(contentInfo, 0x30, 'ContentInfo');
  const type = objectIdentifierOf(outer.next(0x06, 'type'), 'ContentInfo, type');
  if (type !== SIGNED_DATA) throw cmsErrors('cms-not-signed-data', { type });
  const tagged = outer.next(0xa0, 'content');
  outer.end();
  const signedData = onlyPart(tagged, 'ContentInfo, content');

  const fields = fieldsOf(signedData, 0x30, 'SignedData');
  fields.next(0x02, 'version');
  // Other CMS readers reject this set if it contains anything except algorithm identifiers.
  for (const each of partsUpTo(MAX_SIGNERS, fields.next(0x31, 'digestAlgorithms'), 'digest algorithms')) {
    algorithmOf(each, 'digest algorithm');
  }
  const encapsulatedContent = fields.next(0x30, 'content');
  const certificates = fields.optional(0xa0);
  fields.optional(0xa1); // revocation lists
  const signerInfos = fields.next(0x31, 'signerInfos');
  fields.end();
  const signers = partsUpTo(MAX_SIGNERS, signerInfos, 'signers');
  return { contentInfo, tagged, signedData, encapsulatedContent, certificates, signerInfos, signers };
}

export function readContentFields(encapsulatedContent: Element) {
  const fields = fieldsOf(encapsulatedContent, 0x30, 'content');
  const contentType = objectIdentifierOf(fields.next(0x06, 'type'), 'content type');
  const tagged = fields.optional(0xa0);
  fields.end();
  return { contentType, content: tagged === undefined ? undefined : onlyPart(tagged, 'content') };
}

export function readSignerInfoFields(signer: Element) {
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

export function readAttributeFields(attribute: Element) {
  const fields = fieldsOf(attribute, 0x30, 'attribute');
  const type = objectIdentifierOf(fields.next(0x06, 'type'), 'attribute type');
  const values = fields.next(0x31, 'values');
  fields.end();
  return { type, values };
}

export function partsUpTo(limit: number, element: Element, what: string): readonly Element[] {
  const found = firstParts(element, what, limit + 1);
  if (found.length > limit) throw cmsErrors('cms-too-large', { limit, what });
  return found;
}
