/** The sections of a manifest by the names of their entries, which may have several. */

import type { Manifest, ManifestSection } from './manifest.ts';

/** Sections by the name of their entry. */
export function sectionsByName(manifest: Manifest): ReadonlyMap<string, readonly ManifestSection[]> {
  const byName = new Map<string, ManifestSection[]>();
  for (const section of manifest.sections()) {
    const before = byName.get(section.name);
    if (before === undefined) byName.set(section.name, [section]);
    else before.push(section);
  }
  return byName;
}

/** Each name with the bytes of its section or sections. `repeated`: the names that come more than once. */
export function* partsByName(
  manifest: Manifest,
  repeated: ReadonlySet<string>,
): Generator<readonly [name: string, parts: readonly Buffer[]]> {
  const bytesOf = ({ start, end }: ManifestSection): Buffer => manifest.bytes.subarray(start, end);
  for (const section of manifest.sections()) {
    if (!repeated.has(section.name)) yield [section.name, [bytesOf(section)]];
  }
  if (repeated.size === 0) return;
  for (const [name, sections] of sectionsByName(manifest)) {
    if (repeated.has(name)) yield [name, sections.map(bytesOf)];
  }
}

/** Names that come more than once: such a name's sections mean all of them together. */
export function repeatedNames(manifest: Manifest): ReadonlySet<string> {
  const names = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of manifest.sections()) {
    if (names.has(name)) repeated.add(name);
    names.add(name);
  }
  return repeated;
}
