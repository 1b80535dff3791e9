/** The packages in a bundle, which Windows wants signed too. */

import { type ByteSource, rangeSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import { readArchive } from '../../zip/archive.ts';
import { STORED } from '../../zip/fields.ts';
import type { AppxPackage } from './package.ts';
import { PARTS } from './part-names.ts';

/** Those without a signature, by name. Throws the errors of ZIP archives for one that cannot be read. */
export async function unsignedPackages(
  source: ByteSource,
  { archive, manifest }: AppxPackage,
): Promise<readonly string[]> {
  const unsigned: string[] = [];
  for (const { name } of manifest.packages) {
    const entry = archive.byName.get(name);
    if (entry === undefined || entry.method !== STORED) continue;
    const { dataOffset, size } = entry;
    const { byName } = await readArchive(rangeSource(source, dataOffset, dataOffset + size));
    if (!byName.has(PARTS.signature)) unsigned.push(name);
  }
  return unsigned;
}

/** What Windows does not install a signed bundle for. */
export async function examinePackages(source: ByteSource, opened: AppxPackage): Promise<readonly Finding[]> {
  try {
    const unsigned = await unsignedPackages(source, opened);
    if (unsigned.length === 0) return [];
    return [broken('packages-unsigned', `Packages in the bundle are not signed: ${listed(unsigned)}.`)];
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return [broken('bundle-package-unreadable', `A package in the bundle cannot be read: ${thrown.message}.`)];
  }
}

/** Sentences and names: a package may have thousands. */
const MOST_LISTED = 3;

export function listed(items: readonly string[]): string {
  const more = items.length - MOST_LISTED;
  return [...items.slice(0, MOST_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** Whether packages are where the manifest of the bundle says. */
export function examineOffsets({ archive, manifest }: AppxPackage): readonly Finding[] {
  return manifest.packages.flatMap(({ name, offset, size }) => {
    const entry = archive.byName.get(name);
    if (entry === undefined) return [broken('bundle-package-missing', `The bundle does not hold its package ${name}.`)];
    if (entry.method === STORED && entry.dataOffset === offset && entry.size === size) return [];
    const message = `The package ${name} is not stored at byte ${offset} with ${size} bytes, as the bundle's manifest says.`;
    return [broken('bundle-offset-differs', message)];
  });
}
