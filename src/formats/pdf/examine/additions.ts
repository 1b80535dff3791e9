/** Additions by later signatures that the signed revision permits. */

import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { pagesOf, readFields, readForm } from '../../../pdf-syntax/structure.ts';
import {
  isInteger,
  isOf,
  isSameValue,
  keyOf,
  nameOf,
  numberOf,
  type PdfDictionary,
  type PdfReference,
  type PdfValue,
  textOf,
} from '../../../pdf-syntax/values.ts';
import { endOf, isDocumentTimestamp, locks, type StoredSignature } from '../stored.ts';
import { findElements, type StructureAdditions } from './structure-tree.ts';

export interface Additions extends StructureAdditions {
  readonly fields: ReadonlySet<string>;
  readonly widgets: ReadonlySet<string>;
  /** Signature fields that were empty and their widgets, with the keys that signing sets. */
  readonly filled: ReadonlyMap<string, readonly string[]>;
  readonly formKeys: readonly string[];
  /** True if a new field has an area on a page, so it may cover signed content. */
  readonly isVisible: boolean;
}

export interface Restrictions extends Pick<StoredSignature, 'lock'> {
  /** Lowest DocMDP level in the signed revision. */
  readonly permission: number | undefined;
}

export interface LaterSignatures {
  readonly stored: readonly StoredSignature[];
  isTimestampIntact(stored: StoredSignature): Promise<boolean>;
}

/** Signing sets these keys in a field and in its widget. Adobe Reader also locks the widget (/F). */
const FIELD_KEYS = ['V'];
const WIDGET_KEYS = ['AP', 'AS', 'F', 'MK'];
const ACTIVE_KEYS = ['A', 'AA'];
const LOCKED = 128;
/** DSS and Adobe Reader add these with a new signature field, although readers do not draw such a field. */
const DRAWN_DEFAULTS = ['DA', 'DR'];
/** Annotations that readers may draw with these defaults. */
const DRAWN_KINDS = ['FreeText', 'Widget'];

export async function findAdditions(
  signed: PdfDocument,
  later: PdfDocument,
  { permission, lock }: Restrictions,
  { stored, isTimestampIntact }: LaterSignatures,
): Promise<Additions> {
  const laterByField = new Map(
    stored
      .filter((each) => each.ranges !== undefined && endOf(each) > signed.source.size)
      .map((each) => [keyOf(each.field.reference), each]),
  );

  async function isAllowed(signature: StoredSignature | undefined, name: string): Promise<boolean> {
    if (signature !== undefined && isDocumentTimestamp(signature)) return isTimestampIntact(signature);
    return permission !== 1 && !locks({ lock }, name);
  }

  const filled = new Map<string, readonly string[]>();
  const names = new Set<string>();
  const form = await readForm(signed);
  const signedFields = form === undefined ? [] : await readFields(signed, form);
  const signedWidgets = new Set<string>();
  for (const { name, reference, type, value, dictionary } of signedFields) {
    names.add(name);
    const kids = itemsOf(await signed.resolve(dictionary.entries.get('Kids')));
    const widgets = kids.length > 0 ? kids : [reference];
    if (type === 'Sig') for (const widget of widgets) signedWidgets.add(keyOf(widget));
    const signature = laterByField.get(keyOf(reference));
    if (signature === undefined || type !== 'Sig' || (await signed.resolve(value)) !== null) continue;
    if (!(await isAllowed(signature, name)) || !(await areSigned(signed, later, reference, kids))) continue;
    // A timestamp does not prove who added the field, because anyone can get one.
    const widgetKeys = isDocumentTimestamp(signature) ? [] : WIDGET_KEYS;
    for (const widget of widgets) filled.set(keyOf(widget), widgetKeys);
    filled.set(keyOf(reference), [...FIELD_KEYS, ...(kids.length > 0 ? [] : widgetKeys)]);
  }

  const [fields, widgets] = [new Set<string>(), new Set<string>()];
  let isVisible = false;
  const laterForm = await readForm(later);
  const before = new Set(itemsOf(await signed.resolve(form?.entries.get('Fields'))).map(keyOf));
  // e-Szigno inserts a new field before the others.
  for (const reference of itemsOf(await later.resolve(laterForm?.entries.get('Fields')))) {
    if (before.has(keyOf(reference))) continue;
    const field = await newSignatureField(signed, later, reference);
    const signature = laterByField.get(keyOf(reference));
    if (field === undefined || names.has(field.name) || (field.isSigned && signature === undefined)) continue;
    const takesArea = await someAsync(field.widgets, ({ dictionary }) => takesAreaOf(later, dictionary));
    if ((permission === 1 && (takesArea || !field.isSigned)) || !(await isAllowed(signature, field.name))) continue;
    isVisible ||= takesArea;
    fields.add(keyOf(reference));
    for (const widget of field.widgets) widgets.add(keyOf(widget.reference));
  }
  const isDrawn =
    signedFields.some(({ type }) => type !== 'Sig') ||
    (!isSameValue(await defaultsOf(signed, form), await defaultsOf(later, laterForm)) &&
      (await showsOthers(signed, signedWidgets)));
  const structure = await findElements(
    signed,
    later,
    widgets,
    async (reference) => (await newDictionary(signed, later, reference))?.dictionary,
  );
  return {
    ...structure,
    fields,
    widgets,
    filled,
    formKeys: ['SigFlags', ...(isDrawn ? [] : DRAWN_DEFAULTS)],
    isVisible,
  };
}

async function defaultsOf(document: PdfDocument, form: PdfDictionary | undefined): Promise<PdfValue> {
  const resources = await document.resolve(form?.entries.get('DR'));
  const fonts = isOf(resources, 'dictionary') ? await document.resolve(resources.entries.get('Font')) : null;
  return { kind: 'array', items: [form?.entries.get('DA') ?? null, resources, fonts] };
}

/** True if readers may draw an annotation with the defaults of the form, although it is not in the form. */
async function showsOthers(document: PdfDocument, widgets: ReadonlySet<string>): Promise<boolean> {
  for await (const { page } of pagesOf(document)) {
    for (const annotation of itemsOf(await document.resolve(page.entries.get('Annots')))) {
      if (widgets.has(keyOf(annotation))) continue;
      const shown = await document.dictionary(annotation);
      if (DRAWN_KINDS.includes(nameOf(await document.resolve(shown?.entries.get('Subtype'))) ?? '')) return true;
    }
  }
  return false;
}

interface NewField {
  readonly name: string;
  readonly isSigned: boolean;
  readonly widgets: readonly NewObject[];
}

/** Returns undefined for any other field, and for one that includes an object of the signed revision. */
async function newSignatureField(
  signed: PdfDocument,
  later: PdfDocument,
  reference: PdfValue,
): Promise<NewField | undefined> {
  const field = await newDictionary(signed, later, reference);
  if (field === undefined) return undefined;
  const { entries } = field.dictionary;
  if (nameOf(await later.resolve(entries.get('FT'))) !== 'Sig' || entries.has('Parent')) return undefined;
  const kids = itemsOf(await later.resolve(entries.get('Kids')));
  const widgets: NewObject[] = kids.length === 0 ? [field] : [];
  for (const kid of kids) {
    const widget = await newDictionary(signed, later, kid);
    // pyHanko writes widgets that do not refer to their field.
    const isOwn = isSameValue(widget?.dictionary.entries.get('Parent') ?? reference, reference);
    if (widget === undefined || !isOwn || ['FT', 'Kids', 'T', 'V'].some((key) => widget.dictionary.entries.has(key)))
      return undefined;
    widgets.push(widget);
  }
  const isActive = ({ dictionary }: NewObject): boolean => ACTIVE_KEYS.some((key) => dictionary.entries.has(key));
  if ([field, ...widgets].some(isActive)) return undefined;
  if (await someAsync(widgets, async ({ dictionary }) => !(await isWidget(later, dictionary)))) return undefined;
  return {
    name: textOf(await later.resolve(entries.get('T'))) ?? '',
    isSigned: (await later.resolve(entries.get('V'))) !== null,
    widgets,
  };
}

/** A field that is on no page needs no /Subtype. */
async function isWidget(document: PdfDocument, { entries }: PdfDictionary): Promise<boolean> {
  const subtype = await document.resolve(entries.get('Subtype'));
  return subtype === null || nameOf(subtype) === 'Widget';
}

interface NewObject {
  readonly reference: PdfReference;
  readonly dictionary: PdfDictionary;
}

async function newDictionary(signed: PdfDocument, later: PdfDocument, value: PdfValue): Promise<NewObject | undefined> {
  if (!isOf(value, 'reference')) return undefined;
  const entry = signed.entry(value.number);
  const isInUse = entry !== undefined && entry.type !== 'free';
  const dictionary = isInUse ? undefined : await plainDictionary(later, value);
  return dictionary && { reference: value, dictionary };
}

/** Returns undefined for a stream. */
async function plainDictionary(document: PdfDocument, value: PdfValue | undefined): Promise<PdfDictionary | undefined> {
  if (!isOf(value, 'reference')) return isOf(value, 'dictionary') ? value : undefined;
  const object = await document.object(value.number);
  const isPlain = object?.generation === value.generation && object.streamStart === undefined;
  return isPlain && isOf(object.value, 'dictionary') ? object.value : undefined;
}

/** True if the keys that signing sets have the right types, and the widgets do not belong to other fields. */
async function areSigned(
  signed: PdfDocument,
  later: PdfDocument,
  field: PdfReference,
  kids: readonly PdfValue[],
): Promise<boolean> {
  return !(await someAsync([field, ...kids], async (widget) => {
    const [before, after] = [await signed.dictionary(widget), await plainDictionary(later, widget)];
    if (before === undefined || after === undefined || !(await isWidget(signed, before))) return true;
    const type = nameOf(await signed.resolve(before.entries.get('FT'))) ?? 'Sig';
    if (type !== 'Sig' || (widget !== field && ['Kids', 'T'].some((key) => before.entries.has(key)))) return true;
    for (const key of ['AP', 'MK', 'V']) {
      const value = after.entries.get(key);
      if (value !== undefined && (await plainDictionary(later, value)) === undefined) return true;
    }
    const [old = 0, now = 0] = [before.entries.get('F'), after.entries.get('F')];
    const state = after.entries.get('AS');
    return (
      (state !== undefined && !isOf(state, 'name')) ||
      !isInteger(old) ||
      !isInteger(now) ||
      (old | LOCKED) !== (now | LOCKED)
    );
  }));
}

async function takesAreaOf(document: PdfDocument, { entries }: PdfDictionary): Promise<boolean> {
  const sides: (number | undefined)[] = [];
  for (const side of itemsOf(await document.resolve(entries.get('Rect'))))
    sides.push(numberOf(await document.resolve(side)));
  const [left, bottom, right, top] = sides;
  return sides.includes(undefined) || (left !== right && bottom !== top);
}

async function someAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true;
  return false;
}

function itemsOf(value: PdfValue): readonly PdfValue[] {
  return isOf(value, 'array') ? value.items : [];
}
