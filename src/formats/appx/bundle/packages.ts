/** Windows requires a signature in each package of a bundle. */

import { type ByteSource, rangeSource } from '../../../bytes/byte-source.ts';
import { type CodesignError, expectedError } from '../../../errors/codesign-error.ts';
import { broken, type Finding, rejected } from '../../../errors/finding.ts';
import { listedUpTo } from '../../../errors/plural.ts';
import type { ContainedFile } from '../../../format/signable-file.ts';
import { readArchive } from '../../../zip/archive.ts';
import { STORED } from '../../../zip/fields.ts';
import { appxErrors } from '../errors.ts';
import type { Manifest } from '../manifest.ts';
import { type AppxPackage, readPackage } from '../package.ts';
import { PARTS } from '../part-names.ts';

/** Yields packages in the order of the manifest, without missing and compressed packages. */
export async function* storedPackages(
  source: ByteSource,
  { archive, manifest }: AppxPackage,
): AsyncGenerator<ContainedFile> {
  for (const { name } of manifest.packages) {
    const entry = archive.byName.get(name);
    if (entry?.method !== STORED) continue;
    const { dataOffset, size } = entry;
    yield { name, size, open: async () => rangeSource(source, dataOffset, dataOffset + size) };
  }
}

export async function checkPackagesSigned(source: ByteSource, bundle: AppxPackage): Promise<void> {
  const unsigned: string[] = [];
  for await (const { name, open } of storedPackages(source, bundle)) {
    const { byName } = await readArchive(await open());
    if (!byName.has(PARTS.signature)) unsigned.push(name);
  }
  if (unsigned.length > 0) throw appxErrors('appx-packages-unsigned', { names: listed(unsigned) });
}

export function unfitPackage(name: string, problem: string, cause?: unknown): CodesignError {
  return appxErrors('appx-package-unfit', { name, problem }, { cause });
}

export interface InnerPackage {
  readonly name: string;
  readonly source: ByteSource;
  readonly opened: AppxPackage;
}

/** Keeps only one opened package in memory. */
export async function* innerPackages(
  source: ByteSource,
  { archive, manifest }: AppxPackage,
): AsyncGenerator<InnerPackage> {
  for (const { name } of manifest.packages) {
    const entry = archive.byName.get(name);
    if (entry === undefined) throw unfitPackage(name, 'it is missing');
    if (entry.method !== STORED) throw unfitPackage(name, 'it is compressed');
    const { dataOffset, size } = entry;
    const range = rangeSource(source, dataOffset, dataOffset + size);
    const opened = await readPackage(range).catch(async (thrown: unknown) => {
      const { message } = expectedError(thrown);
      throw unfitPackage(name, (await isEncrypted(range)) ? 'it is encrypted' : message, thrown);
    });
    if (opened.kind === 'bundle') throw unfitPackage(name, 'it is a bundle');
    yield { name, source: range, opened };
  }
}

async function isEncrypted(source: ByteSource): Promise<boolean> {
  if (source.size < 4) return false;
  return /^EX[PSB]H$/.test(Buffer.from(await source.read(0, 4)).toString('latin1'));
}

/** Reports packages that Windows would not install. `damageOf` returns a clause. */
export async function examinePackages(
  source: ByteSource,
  opened: AppxPackage,
  damageOf: (inner: InnerPackage) => Promise<string | undefined>,
): Promise<readonly Finding[]> {
  const unsigned: string[] = [];
  const damaged: string[] = [];
  const findings: Finding[] = [];
  try {
    for await (const inner of innerPackages(source, { ...opened, manifest: present(opened) })) {
      if (inner.opened.signature === undefined) unsigned.push(inner.name);
      const damage = await damageOf(inner);
      if (damage !== undefined) damaged.push(`${inner.name} (${damage})`);
    }
  } catch (thrown) {
    const error = expectedError(thrown);
    const message = `A package in the bundle cannot be read: ${error.message}.`;
    findings.push(rejected(error, 'bundle-package-unreadable', message));
  }
  if (opened.signature !== undefined && unsigned.length > 0) {
    findings.push(broken('packages-unsigned', `Packages in the bundle are not signed: ${listed(unsigned)}.`));
  }
  if (damaged.length > 0) {
    findings.push(broken('bundle-package-damaged', `Packages in the bundle are damaged: ${listed(damaged)}.`));
  }
  return findings;
}

function present({ archive, manifest }: AppxPackage): Manifest {
  const packages = manifest.packages.filter(({ name }) => archive.byName.get(name)?.method === STORED);
  return { ...manifest, packages };
}

const MOST_LISTED = 3;

export const listed = (items: readonly string[]): string => listedUpTo(MOST_LISTED, items);

export function examineOffsets({ archive, manifest }: AppxPackage): readonly Finding[] {
  return manifest.packages.flatMap(({ name, offset, size }) => {
    const entry = archive.byName.get(name);
    if (entry === undefined)
      return [broken('bundle-package-missing', `The bundle does not contain its package ${name}.`)];
    if (entry.method === STORED && entry.dataOffset === offset && entry.size === size) return [];
    const message = `The package ${name} is not stored at byte ${offset} with ${size} bytes, as the bundle's manifest says.`;
    return [broken('bundle-offset-differs', message)];
  });
}
