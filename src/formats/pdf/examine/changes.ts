/** What updates changed in a document, in the classes that permissions are about (ISO 32000-2, 12.8.2.2). */

import type { NumberRange } from '../../../pdf-syntax/cross-reference.ts';
import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import type { IndirectObject } from '../../../pdf-syntax/objects.ts';
import { readCatalog, readFields, readForm } from '../../../pdf-syntax/structure.ts';
import {
  differingKeys,
  isOf,
  isSameValue,
  nameOf,
  type PdfDictionary,
  type PdfValue,
} from '../../../pdf-syntax/values.ts';

export interface Change {
  readonly kind: 'signature' | 'form' | 'comment' | 'content';
  /** For people: `page 3 0`, `the catalog`. */
  readonly what: string;
  /** Full name of the field that it is about. */
  readonly field?: string;
}

const MAX_CHANGED = 50_000;
/** Values below a dictionary for validation data. */
const MAX_REACHED = 10_000;

const content = (what: string): Change => ({ kind: 'content', what });

/** Of the catalog: keys that say nothing of what is shown. The form is compared by itself. */
const QUIET_CATALOG_KEYS = ['AcroForm', 'DSS', 'Extensions', 'Metadata', 'Perms', 'Version'];
const QUIET_PAGE_KEYS = ['Annots', 'LastModified', 'Metadata'];
const FORM_LOOKS = ['DR', 'DA', 'Q', 'NeedAppearances'];
const FIELD_VALUE_KEYS = ['V', 'AS', 'AP', 'M', 'MK', 'I', 'F', 'RV', 'TI', 'NM'];

/** `later`: how many sections of `after` are updates that `before` does not have. Validation data and metadata are no changes. */
export async function changesAfter(before: PdfDocument, after: PdfDocument, later: number): Promise<readonly Change[]> {
  if (before.root.number !== after.root.number) return [content('the catalog was exchanged')];
  const numbers = numbersIn(after.sections.slice(0, later).flatMap(({ ranges }) => ranges));
  if (numbers === undefined) return [content(`more than ${MAX_CHANGED} objects`)];
  const roles = await rolesOf(before, after);
  const changes: Change[] = [...(await formChanges(before, after))];
  for (const number of numbers) {
    const [old, now] = [await before.object(number), await after.object(number)];
    if (old === undefined) {
      // A number that the signed document may refer to, but had no object for.
      if (now !== undefined && number < before.nextNumber) changes.push(content(`object ${number}, which was missing`));
    } else if (now === undefined) changes.push(content(`object ${number}, which is gone`));
    else if (isChanged(old, now) && !roles.quiet.has(number)) {
      for (const change of await changeOf(old, now, roles, before, after)) changes.push(change);
    }
  }
  return changes;
}

function numbersIn(ranges: readonly NumberRange[]): readonly number[] | undefined {
  if (ranges.reduce((sum, { count }) => sum + count, 0) > MAX_CHANGED) return undefined;
  const all = ranges.flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index));
  return [...new Set(all)].filter((number) => number > 0).sort((a, b) => a - b);
}

/** A stream that stands elsewhere may hold other bytes. */
function isChanged(old: IndirectObject, now: IndirectObject): boolean {
  if (old.streamStart !== undefined || now.streamStart !== undefined) return old.streamStart !== now.streamStart;
  return !isSameValue(old.value, now.value);
}

interface Roles {
  readonly catalog: number;
  /** Of form and fields: compared by themselves. */
  readonly form: ReadonlySet<number>;
  /** Full names of fields, by the numbers of their objects and widgets. */
  readonly fields: ReadonlyMap<number, { readonly name: string; readonly isSignature: boolean }>;
  /** Streams that show the values of fields. */
  readonly appearances: ReadonlySet<number>;
  /** What is not shown: metadata and validation data. */
  readonly quiet: ReadonlySet<number>;
}

async function rolesOf(before: PdfDocument, after: PdfDocument): Promise<Roles> {
  const catalogs = [await readCatalog(before), await readCatalog(after)] as const;
  const form = new Set<number>();
  const fields = new Map<number, { readonly name: string; readonly isSignature: boolean }>();
  const appearances = new Set<number>();
  for (const [index, document] of [before, after].entries()) {
    const dictionary = await readForm(document);
    for (const value of [catalogs[index]?.entries.get('AcroForm'), dictionary?.entries.get('Fields')]) {
      if (isOf(value, 'reference')) form.add(value.number);
    }
    if (dictionary === undefined) continue;
    for (const field of await readFields(document, dictionary)) {
      const own = { name: field.name, isSignature: field.type === 'Sig' };
      const kids = await document.resolve(field.dictionary.entries.get('Kids'));
      const widgets = [field.reference, ...(isOf(kids, 'array') ? kids.items : [])];
      for (const widget of widgets) {
        if (!isOf(widget, 'reference')) continue;
        fields.set(widget.number, own);
        const appearance = (await document.dictionary(widget))?.entries.get('AP');
        for (const number of await reachedFrom(document, appearance, 2)) appearances.add(number);
      }
    }
  }
  const quiet = new Set<number>();
  for (const value of [before.trailer.entries.get('Info'), catalogs[0].entries.get('Metadata')]) {
    if (isOf(value, 'reference')) quiet.add(value.number);
  }
  for (const number of await reachedFrom(before, catalogs[0].entries.get('DSS'), 4)) quiet.add(number);
  return { catalog: before.root.number, form, fields, appearances, quiet };
}

/** Numbers of the objects that a value leads to, over so many references. */
async function reachedFrom(
  document: PdfDocument,
  value: PdfValue | undefined,
  depth: number,
): Promise<ReadonlySet<number>> {
  const reached = new Set<number>();
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
  return reached;
}

async function changeOf(
  old: IndirectObject,
  now: IndirectObject,
  { catalog, form, fields, appearances }: Roles,
  before: PdfDocument,
  after: PdfDocument,
): Promise<readonly Change[]> {
  const { number } = old;
  const field = fields.get(number);
  if (form.has(number)) return [];
  if (appearances.has(number)) return [{ kind: 'form', what: `an appearance (object ${number})` }];
  if (isOf(old.value, 'array') && isOf(now.value, 'array'))
    return annotationChanges(old.value, now.value, before, after);
  if (!isOf(old.value, 'dictionary') || !isOf(now.value, 'dictionary') || old.streamStart !== undefined) {
    return [content(`object ${number}`)];
  }
  const keys = differingKeys(old.value, now.value);
  if (number === catalog) {
    return keys.filter((key) => !QUIET_CATALOG_KEYS.includes(key)).map((key) => content(`the catalog (/${key})`));
  }
  if (field !== undefined) return fieldChange(field, old.value, keys, before);
  if (nameOf(old.value.entries.get('Type')) === 'Page') {
    const others = keys.filter((key) => !QUIET_PAGE_KEYS.includes(key));
    const lists = [
      await before.resolve(old.value.entries.get('Annots')),
      await after.resolve(now.value.entries.get('Annots')),
    ];
    const annotations = keys.includes('Annots') ? await annotationChanges(lists[0], lists[1], before, after) : [];
    return [...others.map((key) => content(`page object ${number} (/${key})`)), ...annotations];
  }
  if (isAnnotation(old.value) && isAnnotation(now.value))
    return [{ kind: 'comment', what: `annotation object ${number}` }];
  return [content(`object ${number}`)];
}

function isAnnotation({ entries }: PdfDictionary): boolean {
  return entries.has('Subtype') && entries.has('Rect') && nameOf(entries.get('Type')) !== 'XObject';
}

async function fieldChange(
  { name, isSignature }: { readonly name: string; readonly isSignature: boolean },
  old: PdfDictionary,
  keys: readonly string[],
  before: PdfDocument,
): Promise<readonly Change[]> {
  const others = keys.filter((key) => !FIELD_VALUE_KEYS.includes(key));
  if (others.length > 0) return [content(`the field "${name}" (/${others[0]})`)];
  if (!isSignature) return [{ kind: 'form', what: `the field "${name}"`, field: name }];
  const wasEmpty = (await before.resolve(old.entries.get('V'))) === null;
  return [
    wasEmpty ? { kind: 'signature', what: `the signature "${name}"`, field: name } : content(`the signature "${name}"`),
  ];
}

/** Of the annotations of a page. Widgets of new signatures come with them. */
async function annotationChanges(
  old: PdfValue | undefined,
  now: PdfValue | undefined,
  before: PdfDocument,
  after: PdfDocument,
): Promise<readonly Change[]> {
  const [earlier, later] = [old, now].map((list) => (isOf(list, 'array') ? list.items : []));
  if (earlier === undefined || later === undefined) return [];
  const isIn = (list: readonly PdfValue[], item: PdfValue) => list.some((each) => isSameValue(each, item));
  const changes: Change[] = [];
  const differing = [
    ...later.filter((item) => !isIn(earlier, item)).map((item) => ({ item, document: after, verb: 'added' })),
    ...earlier.filter((item) => !isIn(later, item)).map((item) => ({ item, document: before, verb: 'removed' })),
  ];
  for (const { item, document, verb } of differing) {
    const annotation = await document.dictionary(item);
    if (annotation === undefined || !isAnnotation(annotation)) changes.push(content('a list of objects'));
    else if (verb === 'removed' || nameOf(annotation.entries.get('FT')) !== 'Sig') {
      changes.push({ kind: 'comment', what: `an annotation that was ${verb}` });
    }
  }
  return changes;
}

/** Of the form itself, and the fields that were added to it. */
async function formChanges(before: PdfDocument, after: PdfDocument): Promise<readonly Change[]> {
  const [old, now] = [await readForm(before), await readForm(after)];
  if (now === undefined) return old === undefined ? [] : [content('the form, which is gone')];
  const keys = old === undefined ? [...now.entries.keys()] : differingKeys(old, now);
  const changes: Change[] = [];
  for (const key of keys) {
    if (FORM_LOOKS.includes(key)) changes.push({ kind: 'form', what: `the form (/${key})` });
    else if (key !== 'Fields' && key !== 'SigFlags') changes.push(content(`the form (/${key})`));
  }
  const lists = [await before.resolve(old?.entries.get('Fields')), await after.resolve(now.entries.get('Fields'))];
  const [earlier, later] = lists.map((list) => (isOf(list, 'array') ? list.items : []));
  if (earlier?.some((item, index) => !isSameValue(item, later?.[index])))
    changes.push(content('the fields of the form'));
  for (const item of later?.slice(earlier?.length ?? 0) ?? []) {
    const field = await after.dictionary(item);
    const value = await after.dictionary(field?.entries.get('V'));
    if (nameOf(value?.entries.get('Type')) === 'DocTimeStamp') continue;
    const isSignature = nameOf(field?.entries.get('FT')) === 'Sig';
    changes.push(isSignature ? { kind: 'signature', what: 'a signature' } : content('a field that was added'));
  }
  return changes;
}
