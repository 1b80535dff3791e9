import type { ByteSource } from '../bytes/byte-source.ts';
import type { PdfDocument } from './document.ts';
import type { IndirectObject } from './objects.ts';
import { isInteger, isOf } from './values.ts';

const KEYWORD = 'endstream';
const WINDOW = 64;
const END = /^[\0\t\n\f\r ]*endstream/;

/** Returns the value of /Length, or undefined if `endstream` does not follow the bytes that it covers. */
export async function streamLength(
  document: PdfDocument,
  { value, streamStart = 0 }: Pick<IndirectObject, 'value' | 'streamStart'>,
): Promise<number | undefined> {
  const { source } = document;
  const length = isOf(value, 'dictionary') ? await document.resolve(value.entries.get('Length')) : null;
  if (!isInteger(length) || streamStart + length > source.size) return undefined;
  const after = streamStart + length;
  return END.test(await textAt(source, after, WINDOW)) ? length : undefined;
}

/** If /Length is wrong, readers assume that the stream ends at the first `endstream`. */
export async function findEndstream(source: ByteSource, from: number, to: number): Promise<number | undefined> {
  let position = from;
  let kept = '';
  for await (const chunk of source.stream(from, to)) {
    const text = kept + Buffer.from(chunk).toString('latin1');
    const index = text.indexOf(KEYWORD);
    if (index >= 0) return position - kept.length + index + KEYWORD.length;
    position += chunk.length;
    kept = text.slice(1 - KEYWORD.length);
  }
  return undefined;
}

export async function textAt(source: ByteSource, offset: number, length: number): Promise<string> {
  const bytes = await source.read(offset, Math.max(0, Math.min(length, source.size - offset)));
  return Buffer.from(bytes).toString('latin1');
}
