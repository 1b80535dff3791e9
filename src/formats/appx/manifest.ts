/** What is needed of AppxManifest.xml and AppxBundleManifest.xml. */

import { attributeOf, decodeXml, malformed, readXml } from './xml.ts';

export interface Manifest {
  /** As it is written. */
  readonly publisher: string;
  readonly name: string;
  readonly version: string;
  /** Of a bundle, those that are in it. */
  readonly packages: readonly BundledPackage[];
}

export interface BundledPackage {
  /** The name of its entry. */
  readonly name: string;
  /** Where its data is in the bundle, as the manifest says. */
  readonly offset: number;
  readonly size: number;
}

/** Throws `appx-part-malformed`. */
export function readManifest(kind: 'package' | 'bundle', part: string, bytes: Uint8Array): Manifest {
  const root = kind === 'bundle' ? 'Bundle' : 'Package';
  const packages: BundledPackage[] = [];
  let identity: Omit<Manifest, 'packages'> | undefined;
  readXml(part, decodeXml(part, bytes), (element) => {
    const { name, depth, isOwn, attributes } = element;
    if (depth === 1 && name !== root) throw malformed(part, `its root is ${name}, not ${root}`);
    if (!isOwn) return;
    if (depth === 2 && name === 'Identity') {
      if (identity !== undefined) throw malformed(part, 'it has two elements Identity');
      identity = {
        publisher: attributeOf(element, 'Publisher', part),
        name: attributeOf(element, 'Name', part),
        version: attributeOf(element, 'Version', part),
      };
    }
    // Of a flat bundle the packages are elsewhere, and have no offset.
    if (kind === 'bundle' && depth === 3 && name === 'Package' && attributes.has('Offset')) {
      packages.push({
        name: attributeOf(element, 'FileName', part).replaceAll('\\', '/'),
        offset: Number(attributes.get('Offset')),
        size: Number(attributeOf(element, 'Size', part)),
      });
    }
  });
  if (identity === undefined) throw malformed(part, 'it has no element Identity');
  return { ...identity, packages };
}
