/** What the objects of a signed document are for, as far as changes to them are not changes of its content. */

import { forEachObject, forEachReference } from '../../../pdf-syntax/all-objects.ts';
import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import type { IndirectObject } from '../../../pdf-syntax/objects.ts';
import { type Field, readCatalog, readFields, readForm } from '../../../pdf-syntax/structure.ts';
import { isOf, type PdfDictionary, type PdfValue } from '../../../pdf-syntax/values.ts';

/** Appearances of fields, and validation data. */
const MAX_REACHED = 50_000;

export interface FieldRole {
  readonly name: string;
  readonly isSignature: boolean;
}

/** Sets hold the numbers of objects. */
export interface Roles {
  readonly catalog: number;
  /** The form and its list of fields: compared by themselves. */
  readonly form: ReadonlySet<number>;
  /** Fields and their widgets, in either document. */
  readonly fields: ReadonlyMap<number, FieldRole>;
  /** Streams that show the values of fields and nothing else. */
  readonly appearances: ReadonlySet<number>;
  /** What is not shown: metadata and validation data. */
  readonly quiet: ReadonlySet<number>;
  /** Of `added`, one that the signed document refers to although it has no such object. */
  readonly missing: number | undefined;
}

/** Of the catalog: keys whose values are not shown. */
const QUIET_KEYS: readonly string[] = ['DSS', 'Metadata'];

/** `added`: numbers of objects that `after` has and `before` does not. Reads every object of `before`. */
export async function rolesOf(before: PdfDocument, after: PdfDocument, added: ReadonlySet<number>): Promise<Roles> {
  const catalog = await readCatalog(before);
  const form = await formNumbers(before, catalog);
  const fields = new Map<number, FieldRole>();
  const appearances = new Set<number>();
  for (const document of [before, after]) await addFields(document, fields, appearances);
  const quiet = new Set<number>();
  for (const value of [before.trailer.entries.get('Info'), catalog.entries.get('Metadata')]) {
    if (isOf(value, 'reference')) quiet.add(value.number);
  }
  await addReached(before, catalog.entries.get('DSS'), 4, quiet);

  let missing: number | undefined;
  const [shown, elsewhere] = [referredFrom(quiet), referredFrom(appearances)];
  await forEachObject(before, ({ number, value }) => {
    const isCatalog = number === before.root.number;
    forEachReference(isCatalog ? withoutKeys(value, QUIET_KEYS) : value, (to) => {
      if (added.has(to)) missing ??= to;
      shown.add(number, to);
      if (!fields.has(number)) elsewhere.add(number, to);
    });
  });
  return {
    catalog: before.root.number,
    form,
    fields,
    // What is also used elsewhere is content, although a field or the catalog names it too.
    appearances: elsewhere.others(),
    quiet: shown.others(),
    missing,
  };
}

/** Numbers of the set that objects outside it do not lead to. */
function referredFrom(set: ReadonlySet<number>) {
  const inside = new Map<number, number[]>();
  const reached = new Set<number>();
  return {
    add(from: number, to: number): void {
      if (!set.has(to)) return;
      if (!set.has(from)) reached.add(to);
      else inside.set(from, [...(inside.get(from) ?? []), to]);
    },
    others(): ReadonlySet<number> {
      // A set that grows while it is gone through is gone through to its new end.
      for (const number of reached) for (const to of inside.get(number) ?? []) reached.add(to);
      return new Set([...set].filter((number) => !reached.has(number)));
    },
  };
}

function withoutKeys(value: PdfValue, keys: readonly string[]): PdfValue {
  if (!isOf(value, 'dictionary')) return value;
  return { ...value, entries: new Map([...value.entries].filter(([key]) => !keys.includes(key))) };
}

async function formNumbers(document: PdfDocument, catalog: PdfDictionary): Promise<ReadonlySet<number>> {
  const form = await readForm(document);
  const values = [catalog.entries.get('AcroForm'), form?.entries.get('Fields')];
  return new Set(values.flatMap((value) => (isOf(value, 'reference') ? [value.number] : [])));
}

/** What the first document says of an object holds. */
async function addFields(document: PdfDocument, fields: Map<number, FieldRole>, appearances: Set<number>) {
  const form = await readForm(document);
  for (const field of form === undefined ? [] : await readFields(document, form)) {
    for (const { number, value } of await widgetsOf(document, field)) {
      if (!fields.has(number)) fields.set(number, { name: field.name, isSignature: field.type === 'Sig' });
      if (isOf(value, 'dictionary')) await addReached(document, value.entries.get('AP'), 3, appearances);
    }
  }
}

/** The field, which may be its own widget, and its kids. */
export async function widgetsOf(
  document: PdfDocument,
  { reference, dictionary }: Pick<Field, 'reference' | 'dictionary'>,
): Promise<readonly IndirectObject[]> {
  const kids = await document.resolve(dictionary.entries.get('Kids'));
  const widgets: IndirectObject[] = [];
  for (const value of [reference, ...(isOf(kids, 'array') ? kids.items : [])]) {
    const object = isOf(value, 'reference') ? await document.object(value.number) : undefined;
    if (object !== undefined) widgets.push(object);
  }
  return widgets;
}

/** Adds the numbers of the objects that a value leads to, over so many references. What was reached before is not followed again. */
async function addReached(
  document: PdfDocument,
  value: PdfValue | undefined,
  depth: number,
  reached: Set<number>,
): Promise<void> {
  async function visit(from: PdfValue | undefined, left: number): Promise<void> {
    if (reached.size > MAX_REACHED) return;
    if (isOf(from, 'reference')) {
      if (left === 0 || reached.has(from.number)) return;
      reached.add(from.number);
      await visit(await document.resolve(from), left - 1);
    } else if (isOf(from, 'array')) for (const item of from.items) await visit(item, left);
    else if (isOf(from, 'dictionary')) for (const item of from.entries.values()) await visit(item, left);
  }
  await visit(value, depth);
}
