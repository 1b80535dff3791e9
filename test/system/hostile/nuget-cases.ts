/** Hostile NuGet packages: entries, signatures and names without end. */

import { zip } from '../../unit/formats/jar/simple-zip.ts';
import { makePackage } from '../../unit/formats/nuget/samples.ts';
import { LARGEST_BOUNDS } from './archive-cases.ts';
import type { Bounds } from './bounds.ts';
import { repeated } from './cases.ts';
import type { ContainerCase } from './container-cases.ts';

const hostile = (
  what: string,
  result: string,
  make: () => Buffer,
  more: { readonly bounds?: Bounds; readonly verified?: string } = {},
): ContainerCase => ({ what, name: 'hostile.nupkg', make, result, ...more });

const signedBy = (contents: Buffer) => () => makePackage({ name: '.signature.p7s', contents, isStored: true });

const manyEntries = (count: number) => () =>
  makePackage(...Array.from({ length: count - 5 }, (_, index) => ({ name: `content/${index}`, isStored: true })));

export const NUGET_CASES: readonly ContainerCase[] = [
  hostile('65,533 entries', 'planned', manyEntries(65_533), { bounds: LARGEST_BOUNDS }),
  hostile('100,000 entries', 'nuget-zip64', manyEntries(100_000), { bounds: LARGEST_BOUNDS }),
  hostile('a signature of 20 MB', 'planned', signedBy(Buffer.alloc(20_000_000, 0x30))),
  hostile('a signature of endless depth', 'planned', signedBy(repeated(8_000_000, Buffer.from('3080', 'hex')))),
  hostile(
    'a signature that inflates to 1 GB',
    'nuget-signature-entry',
    () => makePackage({ name: '.signature.p7s', contents: Buffer.alloc(1_000_000), size: 1_000_000_000 }),
    { verified: 'signature-unreadable' },
  ),
  hostile('2,000 names of the signature in another spelling', 'planned', () =>
    makePackage(...Array.from({ length: 2000 }, (_, index) => ({ name: spelled(index), isStored: true }))),
  ),
  hostile('a thousand .nuspec files', 'planned', () =>
    zip(Array.from({ length: 1000 }, (_, index) => ({ name: `${index}.nuspec` }))),
  ),
];

/** Letters of the name in lower or upper case, by the bits of a number that is not 0. */
function spelled(index: number): string {
  let bits = index + 1;
  return '.signature.p7s'.replace(/[a-z]/g, (letter) => {
    const isUpper = bits % 2 === 1;
    bits >>= 1;
    return isUpper ? letter.toUpperCase() : letter;
  });
}
