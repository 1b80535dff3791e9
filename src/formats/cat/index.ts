import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';

export const cat = {
  id: 'cat',
  title: 'Security catalog (CAT)',
  extensions: ['.cat'],
  // If a folder is signed, signing the listed files too would make the catalog outdated.
  onlyIfNamed: ['.cat'],
  signing: { options: PROGRAM_OPTIONS, modes: ['replace'] },
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: startsLikeCatalog },
  open: async (source, reader) => (await import('./open-cat.ts')).openCat(source, reader),
  // Even if a catalog cannot be read, it may have been signed.
  seemsSigned: async () => true,
} as const satisfies Format;

/** Identifiers of SignedData, of the certificate trust list, and of its usage "catalog". */
const MARKS = ['06092a864886f70d010702', '06092b0601040182370a01', '060a2b0601040182370c0101'].map((hex) =>
  Buffer.from(hex, 'hex'),
);
/** The usage begins within this number of bytes, because only lengths and digest algorithms precede it. */
const LONGEST_START = 256;

function startsLikeCatalog(head: Uint8Array): boolean {
  const start = Buffer.from(head.subarray(0, LONGEST_START));
  const offsets = MARKS.map((mark) => start.indexOf(mark));
  return start[0] === 0x30 && offsets.every((offset, index) => offset > (offsets[index - 1] ?? 0));
}
