/** A second Authenticode signature beside the first: nested in its unsigned attributes, as signtool's /as does it. */

import { addUnsignedValue } from '../cms/unsigned-attributes.ts';
import { SPC_NESTED_SIGNATURE } from './object-identifiers.ts';

/** `outerCms` with `nestedCms` as one more nested signature; its own timestamp, and those nested already, stay. */
export function nestSignature(outerCms: Uint8Array, nestedCms: Uint8Array): Uint8Array {
  return addUnsignedValue(outerCms, { type: SPC_NESTED_SIGNATURE, value: nestedCms });
}
