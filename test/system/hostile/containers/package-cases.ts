/** Hostile packages of Windows apps and of NuGet: parts, names and signatures without end, blocks without number, archives in archives. */

import {
  contentTypes,
  INNER,
  makeBundle,
  makePackage,
  naming,
  packageManifest,
} from '../../../unit/formats/appx/samples.ts';
import { zip } from '../../../unit/formats/jar/simple-zip.ts';
import { makePackage as makeNugetPackage } from '../../../unit/formats/nuget/samples.ts';
import { type Bounds, LARGEST_BOUNDS } from '../bounds.ts';
import { listed, repeated } from '../cases.ts';
import { type ContainerCase, casesOf } from './container-cases.ts';

/** The subject of the certificate that they are planned with. */
const PUBLISHER = 'CN=Planned Publisher';
const MEBIBYTE = 1024 * 1024;
/** For a block map of 25 MB. */
const LARGE: Bounds = { times: 30, bytes: 300 * MEBIBYTE };

const hostile = casesOf('hostile.msix');
const bundle = casesOf('hostile.msixbundle');
const inManifest = (text: string) => () =>
  makePackage({ publisher: PUBLISHER, manifest: packageManifest(PUBLISHER).replace('<Identity', `${text}<Identity`) });
const inMap = (text: string) => () =>
  makePackage({ publisher: PUBLISHER, blockMap: (map) => map.replace('<Block ', `${text}<Block `) });

const numbered = (count: number, start: string) => listed(count, (index) => `${start}${index}`);

/** So many packages, each with files of these names. */
function bundleOf(count: number, names: readonly string[]): Buffer {
  const packageOf = (name: string) =>
    makePackage({ publisher: PUBLISHER, files: [...names, name].map((each) => ({ name: each })) });
  const more = listed(count - 1, (index) => ({ name: `package-${index}.msix`, bytes: packageOf(`${index}.txt`) }));
  return makeBundle(packageOf('first.txt'), { publisher: PUBLISHER, more, isStored: true });
}

const LONG_NAMES = ['x'.repeat(200), 'y'.repeat(200)].flatMap((start) => numbered(12_000, start));

export const PACKAGE_CASES: readonly ContainerCase[] = [
  hostile('a manifest of 500,000 levels', 'appx-malformed', inManifest('<a>'.repeat(500_000))),
  hostile('entities in a document type', 'appx-malformed', () =>
    makePackage({ manifest: `<!DOCTYPE a [<!ENTITY a "${'b'.repeat(1000)}">]>${'&a;'.repeat(1000)}` }),
  ),
  hostile('a publisher of 1 MB', 'appx-malformed', () => makePackage({ publisher: 'x'.repeat(1_000_000) })),
  hostile('a manifest of 3 MB', 'appx-malformed', inManifest(' '.repeat(3_000_000))),
  hostile('an element of 100,000 attributes', 'appx-malformed', () =>
    makePackage({ manifest: `<Package ${listed(100_000, (index) => `a${index}=""`).join(' ')}/>` }),
  ),
  hostile('20,000 names of the signature in its content types', 'planned', () =>
    makePackage({
      publisher: PUBLISHER,
      contentTypes: contentTypes(
        '<Override PartName="/AppxSignature.p7x" ContentType="application/vnd.ms-appx.signature"/>'.repeat(20_000),
      ),
    }),
  ),
  hostile('a block map of 65 MiB', 'appx-malformed', inMap(' '.repeat(65 * MEBIBYTE))),
  hostile('a block map of a million blocks', 'appx-malformed', inMap('<Block Hash="" Size="1"/>'.repeat(1_000_000)), {
    bounds: LARGE,
    onlyToSign: true,
  }),
  bundle(
    'a bundle of 4,096 packages that are not there',
    'appx-malformed',
    () => makeBundle(INNER, { manifest: naming(4096, String), publisher: PUBLISHER }),
    { onlyToSign: true },
  ),
  bundle('a bundle of 300 packages that are signed with it', 'planned', () => bundleOf(300, []), {
    bounds: { times: 20, bytes: 150 * MEBIBYTE },
    options: ['--inner-packages'],
  }),
  bundle('a bundle of packages with 20 MB of names', 'appx-package-unfit', () => bundleOf(4, LONG_NAMES), {
    bounds: LARGE,
    onlyToSign: true,
    options: ['--inner-packages'],
  }),
  bundle('a bundle that names a package 10,000 times', 'appx-malformed', () =>
    makeBundle(INNER, { manifest: naming(10_000, () => '') }),
  ),
];

const nuget = casesOf('hostile.nupkg');

const signedBy = (contents: Buffer) => () => makeNugetPackage({ name: '.signature.p7s', contents, isStored: true });

const manyEntries = (count: number) => () =>
  makeNugetPackage(...listed(count - 5, (index) => ({ name: `content/${index}`, isStored: true })));

export const NUGET_CASES: readonly ContainerCase[] = [
  nuget('65,533 entries', 'planned', manyEntries(65_533), { bounds: LARGEST_BOUNDS }),
  nuget('65,534 entries', 'nuget-zip64', manyEntries(65_534), { bounds: LARGEST_BOUNDS, onlyToSign: true }),
  nuget('100,000 entries', 'nuget-zip64', manyEntries(100_000), { bounds: LARGEST_BOUNDS }),
  nuget('a signature of 20 MB', 'planned', signedBy(Buffer.alloc(20_000_000, 0x30))),
  nuget('a signature of endless depth', 'planned', signedBy(repeated(8_000_000, Buffer.from('3080', 'hex')))),
  nuget(
    'a signature that inflates to 1 GB',
    'nuget-signature-entry',
    () => makeNugetPackage({ name: '.signature.p7s', contents: Buffer.alloc(1_000_000), size: 1_000_000_000 }),
    { verified: 'signature-unreadable' },
  ),
  nuget('2,000 names of the signature in another spelling', 'planned', () =>
    makeNugetPackage(...listed(2000, (index) => ({ name: spelled(index), isStored: true }))),
  ),
  nuget('a thousand .nuspec files', 'planned', () => zip(listed(1000, (index) => ({ name: `${index}.nuspec` })))),
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
