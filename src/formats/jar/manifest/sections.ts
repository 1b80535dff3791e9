/** The sections of a manifest by the names of their entries, which may have several. */

import type { Manifest, SectionRange } from './manifest.ts';

/** The sections of each name. */
export interface SectionsByName {
  /** Each once, in the order of their first sections. */
  names(): Iterable<string>;
  has(name: string): boolean;
  /** In the file's order, those that touch as one; empty when there is none. */
  get(name: string): readonly SectionRange[];
}

/** In numbers, since there may be more than a million. */
export function sectionsByName(manifest: Manifest): SectionsByName {
  const firstOf = new Map<string, number>();
  const places: number[] = [];
  // Of each section the next one of its name, or -1; of the first one also the last.
  const next: number[] = [];
  const lastOf: number[] = [];
  for (const { name, start, end } of manifest.sections()) {
    const index = next.length;
    places.push(start, end);
    next.push(-1);
    const first = firstOf.get(name);
    lastOf.push(index);
    if (first === undefined) firstOf.set(name, index);
    else {
      next[lastOf[first] ?? first] = index;
      lastOf[first] = index;
    }
  }
  return {
    names: () => firstOf.keys(),
    has: (name) => firstOf.has(name),
    get(name) {
      const ranges: { start: number; end: number }[] = [];
      for (let index = firstOf.get(name) ?? -1; index >= 0; index = next[index] ?? -1) {
        const [start = 0, end = 0] = [places[2 * index], places[2 * index + 1]];
        const last = ranges.at(-1);
        if (last?.end === start) last.end = end;
        else ranges.push({ start, end });
      }
      return ranges;
    },
  };
}

/** Each name with the bytes of its section or sections. `repeated`: the names that come more than once. */
export function* partsByName(
  manifest: Manifest,
  repeated: ReadonlySet<string>,
): Generator<readonly [name: string, parts: readonly Buffer[]]> {
  const bytesOf = ({ start, end }: SectionRange): Buffer => manifest.bytes.subarray(start, end);
  for (const section of manifest.sections()) {
    if (!repeated.has(section.name)) yield [section.name, [bytesOf(section)]];
  }
  if (repeated.size === 0) return;
  const byName = sectionsByName(manifest);
  for (const name of byName.names()) {
    if (repeated.has(name)) yield [name, byName.get(name).map(bytesOf)];
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
