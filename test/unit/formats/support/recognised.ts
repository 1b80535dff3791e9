/** What the router says of bytes. */

import { type ByteSource, memorySource } from '../../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import type { Format } from '../../../../src/format/format.ts';
import { recogniseFormat } from '../../../../src/formats/recognise.ts';
import { formats } from '../../../../src/formats/registry.ts';

/** The id of the format, or the message of the refusal. */
export async function recognised(
  file: Uint8Array | ByteSource,
  name = 'file',
  known: readonly Format[] = [],
): Promise<string> {
  try {
    const source = file instanceof Uint8Array ? memorySource(file) : file;
    return (await recogniseFormat(source, [name], { formats: known })).id;
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'unsupported-format') return thrown.message;
    throw thrown;
  }
}

/** Whether a file is the format's among all formats. */
export async function isOf(format: Format, file: Uint8Array | ByteSource, name: string): Promise<boolean> {
  return (await recognised(file, name, [...new Set([...formats, format])])) === format.id;
}
