import { SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { parts } from '../asn1/read.ts';
import { changeUnsignedAttributes, type UnsignedAttribute, withValues } from '../cms/unsigned-attributes.ts';
import { stampCms } from '../format/cms.ts';
import type { Container } from './container.ts';
import { authenticodeErrors } from './errors.ts';
import { isInDerOrder } from './examine-authenticode.ts';
import { AUTHENTICODE_PROFILE } from './profile.ts';
import type { FoundCms } from './read-authenticode.ts';
import { findSignatures, nestedLocation } from './signatures.ts';

/** Throws `cannot-stamp` if rewriting the entries would lose data. */
export async function stampSignatures(
  container: Container,
  tokens: ReadonlyMap<string, Uint8Array>,
): Promise<Uint8Array> {
  if (container.reasonNotRewritable !== undefined)
    throw authenticodeErrors('cannot-stamp', { reason: container.reasonNotRewritable });
  const [outer] = await findSignatures(container);
  if (outer === undefined) throw foreign();
  const waiting = new Set(tokens.keys());
  const cms = stamped(outer.found, outer.entry.location, (location) => {
    waiting.delete(location);
    return tokens.get(location);
  });
  if (waiting.size > 0) throw foreign();
  return cms;
}

function stamped(found: FoundCms, location: string, tokenOf: (location: string) => Uint8Array | undefined): Uint8Array {
  const after = found.nested.map((inner, index) => stamped(inner, nestedLocation(location, index), tokenOf));
  const isSame = after.every((cms, index) => cms === found.nested[index]?.cms);
  const cms = isSame ? found.cms : exchangeNested(found.cms, (nested, index) => after[index] ?? nested);
  const token = tokenOf(location);
  return token === undefined ? cms : stampCms(AUTHENTICODE_PROFILE, cms, token);
}

const foreign = () => new TypeError('the signature is not one of this file');

/** All other values stay at their positions. */
export function exchangeNested(
  cms: Uint8Array,
  exchange: (nested: Uint8Array, index: number) => Uint8Array,
): Uint8Array {
  let index = 0;
  const exchanged = (attribute: UnsignedAttribute): Uint8Array => {
    const before = parts(attribute.values, 'nested signatures').map(({ bytes }) => bytes);
    return withValues(
      attribute,
      orderedAs(
        before,
        before.map((bytes) => exchange(bytes, index++)),
      ),
    );
  };
  return changeUnsignedAttributes(cms, (attributes) =>
    orderedAs(
      attributes.map(({ element }) => element.bytes),
      attributes.map((each) => (each.type === SPC_NESTED_SIGNATURE ? exchanged(each) : each.element.bytes)),
    ),
  );
}

/** Keeps an order other than DER. */
function orderedAs(before: readonly Uint8Array[], after: readonly Uint8Array[]): readonly Uint8Array[] {
  return isInDerOrder(before) ? after.toSorted(Buffer.compare) : after;
}
