/** Which format a file is of, judged by its bytes. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Format } from '../formats/format.ts';
import { fileErrors } from './errors.ts';

export interface Recognising {
  readonly formats: readonly Format[];
  /** In words, what a file of none of the formats looks like. */
  readonly describe: (head: Uint8Array, source: ByteSource, name: string) => Promise<string>;
}

const HEAD_LENGTH = 4096;

/**
 * `names`: the file's, that which it will have first. A name decides only where the bytes leave a choice, and then the first
 * one that fits a format. Throws `unsupported-format`.
 */
export async function recogniseFormat(
  source: ByteSource,
  names: readonly [string, ...string[]],
  { formats, describe }: Recognising,
): Promise<Format> {
  const head = await source.read(0, Math.min(HEAD_LENGTH, source.size));
  for (const name of new Set(names)) {
    for (const format of formats) {
      if (await format.detect(head, source, name)) return format;
    }
  }
  throw fileErrors('unsupported-format', {
    looksLike: await describe(head, source, names[0]),
    formats: formats.map((format) => format.title).join(', '),
  });
}
