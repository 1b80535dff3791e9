/** Adding to the unsigned attributes of a signature that is finished: the one part of a CMS that may change after signing. */

import { type Element, expectTag, fieldsOf, objectIdentifierOf, onlyPart, parts, readElement } from '../asn1/read.ts';
import { contextConstructed, encode, sequence } from '../asn1/write.ts';
import { type Attribute, encodeAttribute } from './build-signed-data.ts';
import { cmsErrors } from './errors.ts';
import { refusingMalformed } from './parse-signed-data.ts';

/**
 * `cms` with one more value of an unsigned attribute of its first SignerInfo. Everything else stays byte for byte, but for
 * the lengths round the new value. What follows the ContentInfo is dropped. Throws `cms-malformed`, `cms-without-signer`.
 */
export function addUnsignedValue(cms: Uint8Array, attribute: Attribute): Uint8Array {
  return refusingMalformed(() => {
    const contentInfo = readElement(cms, 'ContentInfo');
    const tagged = lastOf(contentInfo, 'ContentInfo');
    const signedData = onlyPart(tagged, 'ContentInfo, content');
    const signerInfos = expectTag(lastOf(signedData, 'SignedData'), 0x31, 'signerInfos');
    const [signer] = parts(signerInfos, 'signerInfos');
    if (signer === undefined) throw cmsErrors('cms-without-signer');
    let part = signer;
    let replacement = withUnsignedValue(signer, attribute);
    for (const parent of [signerInfos, signedData, tagged, contentInfo]) {
      replacement = exchange(parent, part, replacement);
      part = parent;
    }
    return replacement;
  });
}

/** SignerInfo with the value under an attribute of its type, where there is one, else in an attribute of its own. */
function withUnsignedValue(signer: Element, added: Attribute): Uint8Array {
  const last = lastOf(signer, 'SignerInfo');
  if (last.tag !== 0xa1) return sequence(signer.contents, contextConstructed(1, encodeAttribute(added)));

  const attributes = parts(last, 'unsigned attributes');
  const existing = attributes.find((attribute) => typeOf(attribute) === added.type);
  if (existing === undefined) {
    return exchange(signer, last, encode(last.tag, insertInDerOrder(attributes, encodeAttribute(added))));
  }
  const values = lastOf(existing, 'unsigned attribute');
  const moreValues = encode(values.tag, insertInDerOrder(parts(values, 'unsigned attribute'), added.value));
  const attribute = exchange(existing, values, moreValues);
  return exchange(signer, last, exchange(last, existing, attribute));
}

/** `parent`'s encoding with one of its parts exchanged. */
function exchange(parent: Element, part: Element, replacement: Uint8Array): Uint8Array {
  const start = part.bytes.byteOffset - parent.contents.byteOffset;
  const before = parent.contents.subarray(0, start);
  const after = parent.contents.subarray(start + part.bytes.length);
  return encode(parent.tag, before, replacement, after);
}

/** Before the first part that is greater: a SET in DER order stays so, another one keeps the order it has. */
function insertInDerOrder(existing: readonly Element[], added: Uint8Array): Uint8Array {
  const index = existing.findIndex(({ bytes }) => Buffer.compare(bytes, added) > 0);
  const at = index < 0 ? existing.length : index;
  const encodings = existing.map(({ bytes }) => bytes);
  return Buffer.concat([...encodings.slice(0, at), added, ...encodings.slice(at)]);
}

function typeOf(attribute: Element): string {
  const what = 'unsigned attribute';
  return objectIdentifierOf(fieldsOf(attribute, 0x30, what).next(0x06, 'type'), what);
}

function lastOf(element: Element, what: string): Element {
  const last = parts(element, what).at(-1);
  if (last === undefined) throw cmsErrors('cms-malformed', { problem: `${what} is empty` });
  return last;
}
