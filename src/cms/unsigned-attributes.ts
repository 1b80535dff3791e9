/** Only the unsigned attributes of a CMS signature may change after signing. */

import { type Element, parts } from '../asn1/read.ts';
import { encode, encodeAll } from '../asn1/write.ts';
import { type Attribute, encodeAttribute } from './build-signed-data.ts';
import { withCmsErrors } from './parse-signed-data.ts';
import { readAttributeFields, readSignedDataFields, readSignerInfoFields } from './signed-data-fields.ts';

export interface UnsignedAttribute {
  readonly element: Element;
  readonly type: string;
  readonly values: Element;
}

type ChangeAttributes = (attributes: readonly UnsignedAttribute[]) => readonly Uint8Array[];

const SET_TAG = 0x31;
const UNSIGNED_TAG = 0xa1;

/** Changes the first SignerInfo and the enclosing lengths. Drops bytes after the ContentInfo. */
export function changeUnsignedAttributes(cms: Uint8Array, change: ChangeAttributes): Uint8Array {
  return withCmsErrors(() => {
    const { contentInfo, tagged, signedData, signerInfos, signers } = readSignedDataFields(cms);
    let part = signers[0];
    let replacement = signerWith(part, change);
    for (const parent of [signerInfos, signedData, tagged, contentInfo]) {
      replacement = exchange(parent, part, replacement);
      part = parent;
    }
    return replacement;
  });
}

export function addUnsignedValue(cms: Uint8Array, added: Attribute): Uint8Array {
  return changeUnsignedAttributes(cms, (attributes) => {
    const existing = attributes.find(({ type }) => type === added.type);
    // A longer attribute may need another position in DER order.
    const others = attributes.filter((attribute) => attribute !== existing).map(({ element }) => element.bytes);
    return insertInDerOrder(
      others,
      existing === undefined ? encodeAttribute(added) : withOneMore(existing, added.value),
    );
  });
}

export function replaceUnsignedAttributes(
  cms: Uint8Array,
  added: Attribute,
  instead: readonly string[] = [added.type],
): Uint8Array {
  return changeUnsignedAttributes(cms, (attributes) => {
    const others = attributes.filter(({ type }) => !instead.includes(type)).map(({ element }) => element.bytes);
    return insertInDerOrder(others, encodeAttribute(added));
  });
}

export function withValues(attribute: UnsignedAttribute, values: readonly Uint8Array[]): Uint8Array {
  return exchange(attribute.element, attribute.values, encodeAll(SET_TAG, values));
}

function signerWith(signer: Element, change: ChangeAttributes): Uint8Array {
  const { unsignedAttributes: set } = readSignerInfoFields(signer);
  const before = set === undefined ? [] : parts(set, 'unsigned attributes');
  const after = change(before.map((element) => ({ element, ...readAttributeFields(element) })));
  if (set === undefined) {
    return after.length === 0 ? signer.bytes : encode(signer.tag, signer.contents, encodeAll(UNSIGNED_TAG, after));
  }
  return exchange(signer, set, after.length === 0 ? new Uint8Array() : encodeAll(set.tag, after));
}

function withOneMore(attribute: UnsignedAttribute, value: Uint8Array): Uint8Array {
  const existing = parts(attribute.values, 'unsigned attribute').map(({ bytes }) => bytes);
  return withValues(attribute, insertInDerOrder(existing, value));
}

function exchange(parent: Element, part: Element, replacement: Uint8Array): Uint8Array {
  const start = part.bytes.byteOffset - parent.contents.byteOffset;
  const before = parent.contents.subarray(0, start);
  const after = parent.contents.subarray(start + part.bytes.length);
  return encode(parent.tag, before, replacement, after);
}

function insertInDerOrder(existing: readonly Uint8Array[], added: Uint8Array): readonly Uint8Array[] {
  const index = existing.findIndex((bytes) => Buffer.compare(bytes, added) > 0);
  return existing.toSpliced(index < 0 ? existing.length : index, 0, added);
}
