/** Opens a file to be looked at: for reading only, recognised by its bytes, with its layout read. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { openInput } from '../files/input-file.ts';
import { type Recognising, recogniseFormat } from '../files/recognise-format.ts';
import { contentReader } from '../formats/content-reader.ts';
import type { Format, SignableFile } from '../formats/format.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';

export interface Reading extends Recognising {
  /** Digests of what is in archives. */
  readonly digestEntries: DigestEntries;
  /** Hears how far a large file has been read. */
  readonly onRead?: ((path: string, bytes: number, size: number) => void) | undefined;
}

/** Disposing closes the file: what it gave is not to be asked any more. */
export interface ReadFile extends AsyncDisposable {
  readonly path: string;
  readonly format: Format;
  readonly source: ByteSource;
  readonly signable: SignableFile;
  /** What all checks of this file take from. */
  readonly budget: WorkBudget;
}

/**
 * `onFormat` hears of the format as soon as it is known, of a file that then proves unreadable too. Throws what the file
 * system says against the file, `unsupported-format`, and what the format finds malformed.
 */
export async function readFile(
  path: string,
  reading: Reading,
  onFormat: (format: Format) => void = () => undefined,
): Promise<ReadFile> {
  const input = await openInput(path, (bytes, size) => reading.onRead?.(path, bytes, size));
  try {
    const format = await recogniseFormat(input.source, [path], reading);
    onFormat(format);
    const reader = contentReader(reading.digestEntries);
    const signable = await format.open(input.source, reader, path);
    return { path, format, source: input.source, signable, budget: reader.budget, [Symbol.asyncDispose]: input.close };
  } catch (thrown) {
    await input.close();
    throw thrown;
  }
}
