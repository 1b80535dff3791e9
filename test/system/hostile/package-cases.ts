/** Hostile packages: parts and names without end, blocks without number, archives in archives. */

import { contentTypes, INNER, makeBundle, makePackage, packageManifest } from '../../unit/formats/appx/samples.ts';
import type { Bounds } from './bounds.ts';
import type { ContainerCase } from './container-cases.ts';

/** The subject of the certificate that they are planned with. */
const PUBLISHER = 'CN=Planned Publisher';
const MEBIBYTE = 1024 * 1024;
/** For a block map of 25 MB. */
const LARGE: Bounds = { times: 20, bytes: 300 * MEBIBYTE };

const hostile = (
  what: string,
  result: string,
  make: () => Buffer,
  { name = 'hostile.msix', bounds }: { readonly name?: string; readonly bounds?: Bounds } = {},
): ContainerCase => ({ what, name, make, result, ...(bounds && { bounds }) });
const inManifest = (text: string) => () =>
  makePackage({
    publisher: PUBLISHER,
    manifest: packageManifest(PUBLISHER).replace('<Identity', `${text}<Identity`),
  });
const inMap = (text: string) => () =>
  makePackage({ publisher: PUBLISHER, blockMap: (map) => map.replace('<Block ', `${text}<Block `) });

export const PACKAGE_CASES: readonly ContainerCase[] = [
  hostile('a manifest of 500,000 levels', 'appx-part-malformed', inManifest('<a>'.repeat(500_000))),
  hostile('entities in a document type', 'appx-part-malformed', () =>
    makePackage({ manifest: `<!DOCTYPE a [<!ENTITY a "${'b'.repeat(1000)}">]>${'&a;'.repeat(1000)}` }),
  ),
  hostile('a publisher of 1 MB', 'appx-part-malformed', () => makePackage({ publisher: 'x'.repeat(1_000_000) })),
  hostile('a manifest of 3 MB', 'appx-malformed', inManifest(' '.repeat(3_000_000))),
  hostile('an element of 100,000 attributes', 'appx-part-malformed', () =>
    makePackage({ manifest: `<Package ${Array.from({ length: 100_000 }, (_, index) => `a${index}=""`).join(' ')}/>` }),
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
  hostile('a block map of a million blocks', 'planned', inMap('<Block Hash="" Size="1"/>'.repeat(1_000_000)), {
    bounds: LARGE,
  }),
  hostile(
    'a bundle of 4,096 packages that are not there',
    'planned',
    () => makeBundle(INNER, { count: 4096, isNumbered: true, publisher: PUBLISHER }),
    {
      name: 'hostile.msixbundle',
    },
  ),
  hostile(
    'a bundle that names a package 10,000 times',
    'appx-part-malformed',
    () => makeBundle(INNER, { count: 10_000 }),
    {
      name: 'hostile.msixbundle',
    },
  ),
];
