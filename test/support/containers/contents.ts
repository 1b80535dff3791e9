import { memorySource } from '../../../src/bytes/byte-source.ts';
import type { Format } from '../../../src/format/format.ts';
import { contentReader } from '../../../src/formats/recognise.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';

export async function contentsOf(format: Format, bytes: Uint8Array, name = 'test'): Promise<Record<string, string>> {
  const { contents } = await format.open(memorySource(bytes), contentReader(digestEntries), name);
  const found: Record<string, string> = {};
  for await (const file of contents?.entries() ?? []) {
    const source = await file.open();
    found[file.name] = Buffer.from(await source.read(0, source.size)).toString();
  }
  return found;
}
