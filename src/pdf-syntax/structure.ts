/** Reads the parts of the page tree and of the form (ISO 32000-2, 7.7.3 and 12.7) that signatures use. */

import type { PdfDocument } from './document.ts';
import { pdfErrors } from './errors.ts';
import { isInteger, isOf, nameOf, type PdfDictionary, type PdfReference, type PdfValue, textOf } from './values.ts';

const MAX_DEPTH = 64;
const MAX_FIELDS = 50_000;

export async function readCatalog(document: PdfDocument): Promise<PdfDictionary> {
  const catalog = await document.dictionary(document.root);
  if (catalog !== undefined) return catalog;
  throw pdfErrors('pdf-malformed', { offset: document.end, problem: 'it has no catalog' });
}

/** Yields all pages in document order. In a valid document, `value` is a reference to a page. */
export async function* pagesOf(
  document: PdfDocument,
): AsyncGenerator<{ readonly value: PdfValue; readonly page: PdfDictionary }> {
  const seen = new Set<number>();
  const waiting: PdfValue[] = [(await readCatalog(document)).entries.get('Pages') ?? null];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const number = isOf(value, 'reference') ? value.number : undefined;
    const page = number !== undefined && seen.has(number) ? undefined : await document.dictionary(value);
    if (number !== undefined) seen.add(number);
    const kids = await document.resolve(page?.entries.get('Kids'));
    if (isOf(kids, 'array')) for (const kid of kids.items.toReversed()) waiting.push(kid);
    else if (page !== undefined && nameOf(page.entries.get('Type')) !== 'Pages') yield { value, page };
  }
}

export async function firstPage(
  document: PdfDocument,
): Promise<{ readonly reference: PdfReference; readonly page: PdfDictionary }> {
  for await (const { value, page } of pagesOf(document))
    if (isOf(value, 'reference')) return { reference: value, page };
  throw pdfErrors('pdf-malformed', { offset: document.end, problem: 'it has no page' });
}

export interface Field {
  /** Full name of the field: the names of all its parents and its own name, separated by dots. */
  readonly name: string;
  readonly reference: PdfReference;
  readonly dictionary: PdfDictionary;
  readonly type: string | undefined;
  readonly flags: number;
  readonly value: PdfValue | undefined;
}

export async function readForm(document: PdfDocument): Promise<PdfDictionary | undefined> {
  return document.dictionary((await readCatalog(document)).entries.get('AcroForm'));
}

export async function readFields(document: PdfDocument, form: PdfDictionary): Promise<readonly Field[]> {
  const fields: Field[] = [];
  const seen = new Set<number>();

  async function visit(
    value: PdfValue,
    above: Pick<Field, 'name' | 'type' | 'flags' | 'value'>,
    depth: number,
  ): Promise<void> {
    const isNew = isOf(value, 'reference') && !seen.has(value.number);
    if (!isNew || depth > MAX_DEPTH) return;
    seen.add(value.number);
    if (seen.size > MAX_FIELDS) throw pdfErrors('pdf-too-large', { limit: MAX_FIELDS, what: 'form fields' });
    const dictionary = await document.dictionary(value);
    if (dictionary === undefined) return;
    const { entries } = dictionary;
    const own = textOf(await document.resolve(entries.get('T')));
    const flags = await document.resolve(entries.get('Ff'));
    const field = {
      name: own === undefined ? above.name : above.name === '' ? own : `${above.name}.${own}`,
      type: nameOf(await document.resolve(entries.get('FT'))) ?? above.type,
      flags: isInteger(flags) ? flags : above.flags,
      value: entries.get('V') ?? above.value,
    };
    const below = await document.items(entries.get('Kids'));
    const isTerminal = !(await hasFields(below));
    if (isTerminal) fields.push({ ...field, reference: value, dictionary });
    else for (const kid of below) await visit(kid, field, depth + 1);
  }

  /** Kids without a name are widgets, not fields. */
  async function hasFields(kids: readonly PdfValue[]): Promise<boolean> {
    const first = await document.dictionary(kids[0]);
    return first?.entries.has('T') ?? false;
  }

  for (const value of await document.items(form.entries.get('Fields'))) {
    await visit(value, { name: '', type: undefined, flags: 0, value: undefined }, 0);
  }
  return fields;
}
