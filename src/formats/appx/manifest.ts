import { attributeOf, decodeXml, malformed, numberIn, readXml, withAttributes } from './xml.ts';

export interface Manifest {
  readonly publisher: string;
  readonly name: string;
  readonly version: string;
  readonly packages: readonly BundledPackage[];
}

export interface BundledPackage {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly tagStart: number;
  readonly tagEnd: number;
}

const MOST_PACKAGES = 4096;
/** Matches the bundle namespace of any year. The namespace of 2019 added stub packages. */
const BUNDLE_NAMESPACE = /^http:\/\/schemas\.microsoft\.com\/appx\/\d{4}\/bundle$/;

export function readManifest(kind: 'package' | 'bundle', part: string, bytes: Uint8Array): Manifest {
  const root = kind === 'bundle' ? 'Bundle' : 'Package';
  const packages = new Map<string, BundledPackage>();
  let identity: Omit<Manifest, 'packages'> | undefined;
  const text = decodeXml(part, bytes);
  readXml(part, text, (element) => {
    const { name, depth, isOwn, namespace, attributes, tagStart, tagEnd } = element;
    if (depth === 1 && name !== root) throw malformed(part, `its root is ${name}, not ${root}`);
    if (isOwn && depth === 2 && name === 'Identity') {
      if (identity !== undefined) throw malformed(part, 'it has two elements Identity');
      identity = {
        publisher: attributeOf(element, 'Publisher'),
        name: attributeOf(element, 'Name'),
        version: attributeOf(element, 'Version'),
      };
    }
    // The packages of a flat bundle are separate files without offsets.
    const isPackage = depth === 3 && name === 'Package' && (isOwn || BUNDLE_NAMESPACE.test(namespace));
    if (kind === 'bundle' && isPackage && attributes.has('Offset')) {
      const fileName = attributeOf(element, 'FileName').replaceAll('\\', '/');
      if (packages.has(fileName)) throw malformed(part, `it lists the package ${fileName} twice`);
      if (packages.size === MOST_PACKAGES) throw malformed(part, `it lists more than ${MOST_PACKAGES} packages`);
      packages.set(fileName, {
        name: fileName,
        offset: numberIn(element, 'Offset'),
        size: numberIn(element, 'Size'),
        tagStart,
        tagEnd,
      });
    }
  });
  if (identity === undefined) throw malformed(part, 'it has no element Identity');
  return { ...identity, packages: [...packages.values()] };
}

export function withPlaces(
  bytes: Uint8Array,
  packages: readonly BundledPackage[],
  places: ReadonlyMap<string, Pick<BundledPackage, 'offset' | 'size'>>,
): Uint8Array {
  const text = Buffer.from(bytes).toString();
  let position = 0;
  let changed = '';
  for (const { name, offset, size, tagStart, tagEnd } of packages) {
    const { offset: Offset, size: Size } = places.get(name) ?? { offset, size };
    changed += text.slice(position, tagStart) + withAttributes(text.slice(tagStart, tagEnd), { Offset, Size });
    position = tagEnd;
  }
  return Buffer.from(changed + text.slice(position));
}
