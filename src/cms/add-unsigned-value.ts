/** Adding to the unsigned attributes of a signature that is finished: the one part of a CMS that may change after signing. */

import { type Element, parts } from '../asn1/read.ts';
import { contextConstructed, encode, sequence } from '../asn1/write.ts';
import { type Attribute, encodeAttribute } from './build-signed-data.ts';
import { refusingMalformed } from './parse-signed-data.ts';
import {
  type AttributeFields,
  readAttributeFields,
  readSignedDataFields,
  readSignerInfoFields,
} from './signed-data-fields.ts';

/**
 * `cms` with one more value of an unsigned attribute of its first SignerInfo. Everything else stays byte for byte, but for
 * the lengths round the new value. What follows the ContentInfo is dropped. Throws what `parseSignedData` throws.
 */
export function addUnsignedValue(cms: Uint8Array, attribute: Attribute): Uint8Array {
  return refusingMalformed(() => {
    const { contentInfo, tagged, signedData, signerInfos, signers } = readSignedDataFields(cms);
    let part = signers[0];
    let replacement = withUnsignedValue(part, attribute);
    for (const parent of [signerInfos, signedData, tagged, contentInfo]) {
      replacement = exchange(parent, part, replacement);
      part = parent;
    }
    return replacement;
  });
}

/** SignerInfo with the value under an attribute of its type, where there is one, else in an attribute of its own. */
function withUnsignedValue(signer: Element, added: Attribute): Uint8Array {
  const { unsignedAttributes: set } = readSignerInfoFields(signer);
  if (set === undefined) return sequence(signer.contents, contextConstructed(1, encodeAttribute(added)));

  const attributes = parts(set, 'unsigned attributes').map((element) => ({ element, ...readAttributeFields(element) }));
  const existing = attributes.find(({ type }) => type === added.type);
  // With another value the attribute is longer, and so has another place among the others.
  const others = attributes.filter((attribute) => attribute !== existing).map(({ element }) => element);
  const attribute = existing === undefined ? encodeAttribute(added) : withValue(existing, added.value);
  return exchange(signer, set, encode(set.tag, insertInDerOrder(others, attribute)));
}

function withValue(
  { element, values }: AttributeFields & { readonly element: Element },
  value: Uint8Array,
): Uint8Array {
  const existing = parts(values, 'unsigned attribute');
  return exchange(element, values, encode(values.tag, insertInDerOrder(existing, value)));
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
