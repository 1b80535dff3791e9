/** Manifests as Java reads them, in a form that what this program reads can be compared with. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodesignError } from '../../../../../src/errors/codesign-error.ts';
import { readManifest } from '../../../../../src/formats/jar/manifest/manifest.ts';
import { temporaryFolder } from '../../../../support/programs/cli.ts';
import { mainJava } from '../../../../support/programs/java.ts';
import { readAsArchives, runReader } from '../../../../system/interop/java/readers.ts';

/** Java's reading of each archive, all of them in one JVM. */
export function readInJava(folder: string, archives: readonly Buffer[]) {
  const files = archives.map((archive, index) => {
    writeFileSync(join(folder, `${index}.jar`), archive);
    return join(folder, `${index}.jar`);
  });
  return readAsArchives(mainJava(), files);
}

/** `refused`, or main attributes and sections with their digests, all names of attributes in lower case, sorted. */
export type ManifestReading = 'refused' | { readonly main: Pairs; readonly sections: readonly Section[] };

type Pairs = readonly (readonly [name: string, value: string])[];
type Section = readonly [name: string, digests: Pairs];

/** All of them in one JVM. */
export async function readByJava(manifests: readonly Buffer[]): Promise<readonly ManifestReading[]> {
  await using folder = await temporaryFolder('codesign-manifests-');
  const file = join(folder.path, 'manifests.txt');
  writeFileSync(file, manifests.map((bytes) => `${bytes.toString('hex')}\n`).join(''));
  const output = await runReader(mainJava(), ['ManifestReader', file]);
  const facts: string[][][] = manifests.map(() => []);
  for (const line of output.split('\n').filter((text) => text !== '')) {
    const [number = '', what = '', ...values] = line.split('\t');
    facts[Number(number)]?.push([what, ...values.map((value) => Buffer.from(value, 'hex').toString())]);
  }
  return facts.map(readingFromFacts);
}

function readingFromFacts(facts: readonly (readonly string[])[]): ManifestReading {
  if (facts.length === 0) throw new Error('Java said nothing of a manifest');
  const main = new Map<string, string>();
  const sections = new Map<string, Map<string, string>>();
  for (const [what, first = '', second = '', third = ''] of facts) {
    if (what === 'refused') return 'refused';
    if (what === 'main') main.set(first.toLowerCase(), second);
    if (what === 'section') sections.set(first, new Map());
    if (what === 'attribute' && /.-digest$/i.test(second)) sections.get(first)?.set(second.toLowerCase(), third);
  }
  return readingOf(main, sections);
}

export function readByUs(bytes: Buffer): ManifestReading {
  try {
    const manifest = readManifest(bytes);
    const sections = new Map<string, Map<string, string>>();
    for (const { name, digests } of manifest.sections()) {
      const known = sections.get(name) ?? new Map<string, string>();
      sections.set(name, known);
      for (const each of digests) known.set(`${each.algorithm}-digest`.toLowerCase(), manifest.valueOf(each));
    }
    return readingOf(manifest.main.attributes, sections);
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'manifest-invalid') return 'refused';
    throw thrown;
  }
}

function readingOf(
  main: ReadonlyMap<string, string>,
  sections: ReadonlyMap<string, ReadonlyMap<string, string>>,
): ManifestReading {
  return {
    main: [...main].sort(byName),
    sections: [...sections].map(([name, digests]) => [name, [...digests].sort(byName)] as const).sort(byName),
  };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
