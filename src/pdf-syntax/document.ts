import type { ByteSource } from '../bytes/byte-source.ts';
import { lazy, memoize } from '../bytes/reuse.ts';
import { CodesignError, expectedError } from '../errors/codesign-error.ts';
import { findStart, readSections } from './cross-reference.ts';
import { pdfErrors } from './errors.ts';
import { type IndirectObject, readObjectAt, readStream } from './objects.ts';
import { parser } from './parse.ts';
import { brokenReference, type Entry, MAX_NUMBER, type Section } from './section.ts';
import { isInteger, isOf, nameOf, numberOf, type PdfDictionary, type PdfReference, type PdfValue } from './values.ts';

export interface PdfDocument {
  readonly source: ByteSource;
  readonly sections: readonly [Section, ...Section[]];
  readonly end: number;
  readonly trailer: PdfDictionary;
  readonly root: PdfReference;
  readonly nextNumber: number;
  entry(number: number): Entry | undefined;
  /** Throws `pdf-cross-reference-broken` if a different object is at the offset. */
  object(number: number): Promise<IndirectObject | undefined>;
  objectAt(number: number, entry: Entry): Promise<IndirectObject | undefined>;
  /** Returns false if the entry states the wrong index in its object stream. Some PDF readers use that index. */
  isExact(number: number, entry: Entry): Promise<boolean>;
  resolve(value: PdfValue | undefined): Promise<PdfValue>;
  dictionary(value: PdfValue | undefined): Promise<PdfDictionary | undefined>;
  items(value: PdfValue | undefined): Promise<readonly PdfValue[]>;
}

/**
 * Limit on the number of object streams that are cached in decoded form. Objects in the same stream are usually read
 * one after another.
 */
const STREAMS_KEPT = 4;
/** Limit on the number of cached objects. The document catalog is read many times and can be large. */
const OBJECTS_KEPT = 4;
/** Limit on the total number of decoded bytes. Data that is decoded twice counts twice. */
const MAX_DECODED = 512 * 1024 * 1024;
/** Limit on the number of objects in one object stream. Most object streams contain one or two hundred objects. */
const MAX_COMPRESSED = 100_000;

/** `known` contains sections of a longer file that begins with the same bytes. */
export async function openDocument(source: ByteSource, known: readonly Section[] = []): Promise<PdfDocument> {
  await checkHeader(source);
  const { offset, end } = await findStart(source);
  const sections = await readSections(source, offset, known);
  const [{ trailer }] = sections;
  if (await isMisleading(source, offset))
    throw brokenReference('it is linearised, but its end does not refer to its first section');
  if (sections.some((section) => section.trailer.entries.has('Encrypt'))) throw pdfErrors('pdf-encrypted');
  const root = trailer.entries.get('Root');
  if (!isOf(root, 'reference')) throw brokenReference('its trailer does not lead to a catalog');
  let leftToDecode = MAX_DECODED;
  const readInFile = memoize(OBJECTS_KEPT, String, (at: number) => readObjectAt(source, at));
  const readCompressed = memoize(STREAMS_KEPT, String, (number: number) => objectStream(number));

  const listedIn = lazy(() => lastSections(sections));

  function entryOf(number: number): Entry | undefined {
    const index = (listedIn()[number] ?? 0) - 1;
    const section = sections[index];
    const entry = section?.entry(number);
    // In a hybrid file, the cross-reference table marks the objects of the cross-reference stream as free.
    const isHybrid = section?.kind === 'table' && section.trailer.entries.has('XRefStm');
    return (entry?.type === 'free' && isHybrid ? sections[index + 1]?.entry(number) : undefined) ?? entry;
  }

  async function object(number: number): Promise<IndirectObject | undefined> {
    const entry = entryOf(number);
    return entry && objectAt(number, entry);
  }

  async function objectAt(number: number, entry: Entry): Promise<IndirectObject | undefined> {
    if (entry.type === 'free') return undefined;
    const found = entry.type === 'in-file' ? await objectIn(entry.offset, number) : await compressed(entry, number);
    const generation = entry.type === 'in-file' ? entry.generation : 0;
    if (found.number !== number || found.generation !== generation) {
      throw brokenReference(`object ${number} is not where it should be`);
    }
    return found;
  }

  async function objectIn(at: number, number: number): Promise<IndirectObject> {
    if (at <= 0 || at >= source.size) throw brokenReference(`object ${number} is not where it should be`);
    return readInFile(at);
  }

  async function compressed({ stream }: { readonly stream: number }, number: number) {
    const { data, byNumber } = await readCompressed(stream);
    // Some readers find an object by its number, and others by its index, so the number must be unique.
    const item = byNumber.get(number);
    if (item === undefined) throw brokenReference(`object ${number} is not where it should be`);
    const from = parser(data, undefined, true, item.offset);
    from.skipSpace();
    const start = from.position;
    const value = from.value();
    const raw = data.subarray(start, from.position);
    return { number: item.number, generation: 0, value, raw, offset: -1, end: -1, streamStart: undefined };
  }

  async function objectStream(number: number) {
    const entry = entryOf(number);
    if (entry?.type !== 'in-file') throw brokenReference(`object stream ${number} is not in the file`);
    const container = await objectIn(entry.offset, number);
    const { value } = container;
    const isStream = isOf(value, 'dictionary') && nameOf(value.entries.get('Type')) === 'ObjStm';
    if (!isStream || container.number !== number)
      throw brokenReference(`object stream ${number} is not where it should be`);
    const [count, first, length] = ['N', 'First', 'Length'].map((key) => value.entries.get(key));
    // ISO 32000-2, 7.5.7, does not allow the /Length of an object stream to be in an object stream. A /Length in its
    // own stream could never be read.
    if (isOf(length, 'reference') && entryOf(length.number)?.type === 'in-stream')
      throw brokenReference(`the length of object stream ${number} is in an object stream`);
    const data = await readStream(source, container, await resolve(length));
    leftToDecode -= data.length;
    if (leftToDecode < 0) throw pdfErrors('pdf-too-large', { limit: MAX_DECODED, what: 'bytes in its object streams' });
    if (!isInteger(count) || !isInteger(first) || first > data.length) {
      throw pdfErrors('pdf-malformed', { offset: container.offset, problem: 'an object stream has no table' });
    }
    if (count > MAX_COMPRESSED)
      throw pdfErrors('pdf-too-large', { limit: MAX_COMPRESSED, what: 'objects in one stream' });
    const from = parser(data.subarray(0, first), undefined, true);
    const next = (): number => {
      from.skipSpace();
      const word = from.word();
      if (/^\d{1,10}$/.test(word)) return Number(word);
      throw pdfErrors('pdf-malformed', { offset: container.offset, problem: 'an object stream has no table' });
    };
    const items = Array.from({ length: count }, () => ({ number: next(), offset: first + next() }));
    const byNumber = new Map<number, (typeof items)[number] | undefined>();
    for (const item of items) byNumber.set(item.number, byNumber.has(item.number) ? undefined : item);
    return { data, items, byNumber };
  }

  async function resolve(value: PdfValue | undefined): Promise<PdfValue> {
    if (!isOf(value, 'reference')) return value ?? null;
    const found = await object(value.number);
    if (found === undefined || found.generation !== value.generation) return null;
    // A reference must not lead to another reference (7.3.10).
    return isOf(found.value, 'reference') ? null : found.value;
  }

  return {
    source,
    sections,
    end,
    trailer,
    root,
    nextNumber: sections.reduce((most, { ranges }) => Math.max(most, endOf(ranges)), sizeIn(trailer)),
    entry: entryOf,
    object,
    async isExact(number, entry) {
      return entry.type !== 'in-stream' || (await readCompressed(entry.stream)).items[entry.index]?.number === number;
    },
    objectAt,
    resolve,
    async dictionary(value) {
      const resolved = await resolve(value);
      return isOf(resolved, 'dictionary') ? resolved : undefined;
    },
    async items(value) {
      const resolved = await resolve(value);
      return isOf(resolved, 'array') ? resolved.items : [];
    },
  };
}

/**
 * Throws `pdf-cross-reference-broken` if an object in use is not at its offset in the cross-reference table or stream.
 */
export async function forEachObject(document: PdfDocument, visit: (object: IndirectObject) => void): Promise<void> {
  const { nextNumber } = document;
  // There may be millions of objects, and reading objects in stored order reads each part of the file only once.
  const places = new Float64Array(nextNumber);
  const used: number[] = [];
  for (let number = 0; number < nextNumber; number += 1) {
    const entry = document.entry(number);
    if (entry === undefined || entry.type === 'free') continue;
    places[number] = entry.type === 'in-file' ? entry.offset : -entry.stream;
    used.push(number);
  }
  for (const number of used.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))) {
    const found = await document.object(number);
    if (found !== undefined) visit(found);
  }
}

/** PDF readers search this many bytes for the header. */
const HEADER_WITHIN = 1024;
const HEADER = /%PDF-[12]\./;

async function checkHeader(source: ByteSource): Promise<void> {
  const head = Buffer.from(await source.read(0, Math.min(HEADER_WITHIN, source.size))).toString('latin1');
  const offset = HEADER.exec(head)?.index;
  if (offset === undefined) {
    throw pdfErrors('pdf-malformed', { offset: 0, problem: 'it does not start with %PDF-1 or %PDF-2' });
  }
  if (offset > 0) throw pdfErrors('pdf-header-late', { offset });
}

/** PDF readers search this many bytes for the end of the first object. */
const FIRST_OBJECT_WITHIN = 1024;

/**
 * Returns true if readers with support for linearised documents would use a different cross-reference section. They do
 * so if the first object states the file's actual size (Annex F), which an update can change to any value.
 */
async function isMisleading(source: ByteSource, offset: number): Promise<boolean> {
  const first = await readObjectAt(source, 0).catch(expectedError);
  if (first instanceof CodesignError || !isOf(first.value, 'dictionary')) return false;
  const { entries } = first.value;
  if (!entries.has('Linearized') || numberOf(entries.get('L')) !== source.size) return false;
  const head = Buffer.from(await source.read(0, Math.min(FIRST_OBJECT_WITHIN, source.size))).toString('latin1');
  return offset > head.length || !/^(?:(?!endobj).)*endobj[\0\t\n\f\r ]*$/s.test(head.slice(0, offset));
}

function sizeIn({ entries }: PdfDictionary): number {
  const size = entries.get('Size');
  if (isInteger(size) && size > 0 && size <= MAX_NUMBER) return size;
  throw brokenReference('its trailer has no valid /Size');
}

/** Maps each object number to the last section that contains it (section index plus 1), so that no search is needed. */
function lastSections(sections: readonly Section[]): Uint16Array {
  const indexes = new Uint16Array(sections.reduce((most, { ranges }) => Math.max(most, endOf(ranges)), 0));
  for (const [index, { ranges }] of [...sections.entries()].reverse()) {
    for (const { first, count } of ranges) indexes.fill(index + 1, first, first + count);
  }
  return indexes;
}

function endOf(ranges: Section['ranges']): number {
  return ranges.reduce((most, { first, count }) => Math.max(most, first + count), 0);
}
