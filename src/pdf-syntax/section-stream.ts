/** Reads a cross-reference stream (ISO 32000-2, 7.5.8). */

import type { ByteSource } from '../bytes/byte-source.ts';
import { parseAt, readObjectAt, readStream } from './objects.ts';
import {
  brokenReference,
  type Entry,
  entryInFile,
  FREE,
  nextRange,
  type Section,
  type StoredRange,
  sectionOf,
} from './section.ts';
import { isInteger, isOf, nameOf, numberOf, type PdfValue } from './values.ts';

export async function readXrefStream(source: ByteSource, offset: number): Promise<Section> {
  const object = await readObjectAt(source, offset);
  const { value: trailer } = object;
  if (!isOf(trailer, 'dictionary') || nameOf(trailer.entries.get('Type')) !== 'XRef') {
    throw brokenReference(`no section is at byte ${offset}, where one should be`);
  }
  const length = trailer.entries.get('Length') ?? null;
  const data = await readStream(source, object, length);
  const dataEnd = (object.streamStart ?? 0) + (numberOf(length) ?? 0);
  const end = await parseAt(source, dataEnd, (from) => {
    from.skipSpace();
    from.word();
    return dataEnd + from.position;
  });
  const widths = integers(trailer.entries.get('W'));
  const [typeWidth = 0, secondWidth = 0, thirdWidth = 0] = widths;
  if (widths.length !== 3 || widths.some((width) => width > 8))
    throw brokenReference('/W has other widths than it may have');
  const width = typeWidth + secondWidth + thirdWidth;
  const index = trailer.entries.has('Index')
    ? integers(trailer.entries.get('Index'))
    : [0, ...integers(trailer.entries.get('Size'))];
  const ranges: StoredRange[] = [];
  for (let at = 0; at + 1 < index.length; at += 2) {
    ranges.push(nextRange(ranges, index[at] ?? 0, index[at + 1] ?? 0));
  }
  const count = ranges.reduce((sum, range) => sum + range.count, 0);
  if (index.length % 2 !== 0 || count * width > data.length || width === 0)
    throw brokenReference('a stream has fewer entries than it names');
  const field = (from: number, length: number): number =>
    data.subarray(from, from + length).reduce((value, byte) => value * 256 + byte, 0);
  return sectionOf({ kind: 'stream', offset, end, trailer }, ranges, (at): Entry => {
    const position = at * width;
    const type = typeWidth === 0 ? 1 : field(position, typeWidth);
    const second = field(position + typeWidth, secondWidth);
    const third = field(position + typeWidth + secondWidth, thirdWidth);
    if (type === 1) return entryInFile(second, third);
    if (type === 2) return { type: 'in-stream', stream: second, index: third };
    // Some readers treat objects of an unknown type as free, while others repair the document.
    if (type !== 0) throw brokenReference(`a stream has an entry of type ${type}`);
    return FREE;
  });
}

function integers(value: PdfValue | undefined): readonly number[] {
  const items = isOf(value, 'array') ? value.items : [value];
  return items.map((item) => {
    if (isInteger(item)) return item;
    throw brokenReference('a stream has other values than numbers in /W, /Index or /Size');
  });
}
