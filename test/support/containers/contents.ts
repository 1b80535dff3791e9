import { memorySource } from '../../../src/bytes/byte-source.ts';
import type { Format } from '../../../src/format/format.ts';
import type { ContainedFile, FindNeighbour } from '../../../src/format/signable-file.ts';
import { contentReader } from '../../../src/formats/recognise.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';

/** The contents of the files in Latin 1, or the codes of their errors. Other files are found by name. */
export async function filesIn(
  entries: (neighbour: FindNeighbour) => AsyncIterable<ContainedFile>,
  others: Readonly<Record<string, Uint8Array>> = {},
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const neighbour = async (name: string) => (others[name] === undefined ? undefined : memorySource(others[name]));
  for await (const file of entries(neighbour)) {
    found[file.name] = await file.open().then(
      async (source) => Buffer.from(await source.read(0, source.size)).toString('latin1'),
      ({ code }) => code,
    );
  }
  return found;
}

export async function contentsOf(format: Format, bytes: Uint8Array, name = 'test'): Promise<Record<string, string>> {
  const { contents } = await format.open(memorySource(bytes), contentReader(digestEntries), name);
  const found: Record<string, string> = {};
  for await (const file of contents?.entries() ?? []) {
    const source = await file.open();
    found[file.name] = Buffer.from(await source.read(0, source.size)).toString();
  }
  return found;
}
