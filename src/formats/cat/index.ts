/** Security catalogs. What opens one is loaded when one is opened. */

import { CATALOG_LIST, CERTIFICATE_TRUST_LIST, SIGNED_DATA } from '../../asn1/object-identifiers.ts';
import { peekHeader } from '../../asn1/read.ts';
import { objectIdentifier } from '../../asn1/write.ts';
import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import type { Format } from '../format.ts';

export const cat = {
  id: 'cat',
  title: 'Security catalog (CAT)',
  extensions: ['.cat'],
  // One in a folder lists files next to it, which must not change once it is signed.
  onlyIfNamed: ['.cat'],
  options: PROGRAM_OPTIONS,
  modes: ['replace'],
  defaultMode: 'replace',
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: startsLikeCatalog },
  open: async (source, reader) => (await import('./open-cat.ts')).openCat(source, reader),
} as const satisfies Format;

/** SignedData whose content is a list of the usage "catalog". `head` may end before the first element does. */
function startsLikeCatalog(head: Uint8Array): boolean {
  let at = 0;
  const next = (tag: number) => {
    const header = orUndefined(() => peekHeader(head, at, 'catalog'));
    return header?.tag === tag ? header : undefined;
  };
  const enter = (tag: number): boolean => {
    const header = next(tag);
    at += header?.length ?? 0;
    return header !== undefined;
  };
  const skip = (tag: number): boolean => {
    const header = next(tag);
    at += (header?.length ?? 0) + (header?.contentsLength ?? 0);
    return header !== undefined;
  };
  const pass = (dotted: string): boolean => {
    const expected = objectIdentifier(dotted);
    const start = at;
    at += expected.length;
    return Buffer.compare(head.subarray(start, at), expected) === 0;
  };
  return (
    enter(0x30) &&
    pass(SIGNED_DATA) &&
    enter(0xa0) &&
    enter(0x30) &&
    skip(0x02) &&
    skip(0x31) &&
    enter(0x30) &&
    pass(CERTIFICATE_TRUST_LIST) &&
    enter(0xa0) &&
    enter(0x30) &&
    enter(0x30) &&
    pass(CATALOG_LIST)
  );
}
