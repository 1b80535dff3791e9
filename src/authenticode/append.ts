/** Nests signatures like signtool /as. The existing signature must be intact. */

import { SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { addUnsignedValue } from '../cms/unsigned-attributes.ts';
import { attempt, CodesignError } from '../errors/codesign-error.ts';
import { formatErrors } from '../format/errors.ts';
import type { Container } from './container.ts';
import { readAuthenticode } from './read-authenticode.ts';

/** The timestamp of the outer signature and the signatures nested in it do not change. */
export function nestSignature(outerCms: Uint8Array, nestedCms: Uint8Array): Uint8Array {
  return addUnsignedValue(outerCms, { type: SPC_NESTED_SIGNATURE, value: nestedCms });
}

export async function readOuterSignature(container: Container): Promise<Uint8Array | undefined> {
  if (container.reasonNotRewritable !== undefined) throw cannotAppend(container.reasonNotRewritable);
  const [entry] = await container.entries();
  if (entry === undefined) return undefined;
  if (entry.cms === undefined) throw cannotAppend('the signature there is too long to be one');
  const { cms } = entry;
  const outer = attempt(() => readAuthenticode(cms, container.kind.contentType));
  if (outer instanceof CodesignError) throw cannotAppend(`the signature there cannot be read: ${outer.message}`, outer);
  if (outer.algorithm === undefined)
    throw cannotAppend('the signature there uses a digest algorithm that is not supported');
  return outer.signedData.bytes;
}

function cannotAppend(reason: string, cause?: unknown): CodesignError {
  return formatErrors('cannot-append', { reason }, { cause });
}
