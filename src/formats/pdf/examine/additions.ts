/** Later signatures: what each adds to a document, where the signed revision allows it. */

import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { readFields, readForm } from '../../../pdf-syntax/structure.ts';
import {
  isInteger,
  isOf,
  nameOf,
  numberOf,
  type PdfDictionary,
  type PdfReference,
  type PdfValue,
  textOf,
} from '../../../pdf-syntax/values.ts';
import { endOf, isDocumentTimestamp, locks, type StoredSignature } from '../stored.ts';

export interface Additions {
  /** References to new signature fields, and to their widgets. */
  readonly fields: ReadonlySet<string>;
  readonly widgets: ReadonlySet<string>;
  /** Signature fields that were empty, and their widgets: the keys that signing sets. */
  readonly filled: ReadonlyMap<string, readonly string[]>;
  /** Entries of the form that may change. */
  readonly formKeys: readonly string[];
  /** True if a new field takes an area of a page, so that it may cover what was signed. */
  readonly isVisible: boolean;
}

export interface Restrictions extends Pick<StoredSignature, 'lock'> {
  /** The lowest level of DocMDP in the signed revision. */
  readonly permission: number | undefined;
}

/** What else `verify` knows of the document. */
export interface LaterSignatures {
  readonly stored: readonly StoredSignature[];
  /** Verifies the token of a document timestamp. */
  isTimestampIntact(stored: StoredSignature): Promise<boolean>;
}

export const keyOf = (value: PdfValue | undefined): string =>
  isOf(value, 'reference') ? `${value.number} ${value.generation}` : '';

/** Set by signing on a field, and on its widget. Adobe Reader also locks the widget (/F). */
const FIELD_KEYS = ['V'];
const WIDGET_KEYS = ['AP', 'AS', 'F', 'MK'];
/** Actions of a field. */
const ACTIVE_KEYS = ['A', 'AA'];
const LOCKED = 128;
/** Defaults of fields that a reader draws, which signature fields are not. DSS and Adobe Reader add them with a new signature field. */
const DRAWN_DEFAULTS = ['DA', 'DR'];

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
  for (const { name, reference, type, value, dictionary } of signedFields) {
    names.add(name);
    const signature = laterByField.get(keyOf(reference));
    if (signature === undefined || type !== 'Sig' || (await signed.resolve(value)) !== null) continue;
    const kids = itemsOf(await signed.resolve(dictionary.entries.get('Kids')));
    const widgets = kids.length > 0 ? kids : [reference];
    if (!(await isAllowed(signature, name)) || !(await areSigned(signed, later, [reference, ...widgets]))) continue;
    for (const widget of widgets) filled.set(keyOf(widget), WIDGET_KEYS);
    filled.set(keyOf(reference), kids.length > 0 ? FIELD_KEYS : [...FIELD_KEYS, ...WIDGET_KEYS]);
  }

  const [fields, widgets] = [new Set<string>(), new Set<string>()];
  let isVisible = false;
  const laterForm = await readForm(later);
  const before = itemsOf(await signed.resolve(form?.entries.get('Fields')));
  const after = itemsOf(await later.resolve(laterForm?.entries.get('Fields')));
  for (const reference of after.slice(before.length)) {
    const field = await newSignatureField(signed, later, reference);
    const signature = laterByField.get(keyOf(reference));
    if (field === undefined || names.has(field.name) || (field.isSigned && signature === undefined)) continue;
    const takesArea = await someAsync(field.widgets, ({ dictionary }) => takesAreaOf(later, dictionary));
    if ((permission === 1 && (takesArea || !field.isSigned)) || !(await isAllowed(signature, field.name))) continue;
    isVisible ||= takesArea;
    fields.add(keyOf(reference));
    for (const widget of field.widgets) widgets.add(keyOf(widget.reference));
  }
  const isDrawn = signedFields.some(({ type }) => type !== 'Sig');
  return { fields, widgets, filled, formKeys: ['SigFlags', ...(isDrawn ? [] : DRAWN_DEFAULTS)], isVisible };
}

interface NewField {
  readonly name: string;
  readonly isSigned: boolean;
  readonly widgets: readonly NewObject[];
}

/** Undefined for any other field, and for one that takes in an object of the signed revision. */
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
    if (widget === undefined || ['FT', 'Kids', 'T', 'V'].some((key) => widget.dictionary.entries.has(key)))
      return undefined;
    widgets.push(widget);
  }
  if (widgets.some(({ dictionary }) => !isPassiveWidget(dictionary))) return undefined;
  return {
    name: textOf(await later.resolve(entries.get('T'))) ?? '',
    isSigned: (await later.resolve(entries.get('V'))) !== null,
    widgets,
  };
}

/** A field that no page shows needs no /Subtype. */
function isPassiveWidget({ entries }: PdfDictionary): boolean {
  const subtype = nameOf(entries.get('Subtype'));
  return (subtype === undefined || subtype === 'Widget') && !ACTIVE_KEYS.some((key) => entries.has(key));
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

/** Undefined for a stream. */
async function plainDictionary(document: PdfDocument, value: PdfValue | undefined): Promise<PdfDictionary | undefined> {
  if (!isOf(value, 'reference')) return isOf(value, 'dictionary') ? value : undefined;
  const object = await document.object(value.number);
  const isPlain = object?.generation === value.generation && object.streamStart === undefined;
  return isPlain && isOf(object.value, 'dictionary') ? object.value : undefined;
}

/** True if the keys that signing sets have values of their kinds. A page that uses such a value for something else shows nothing. */
async function areSigned(signed: PdfDocument, later: PdfDocument, fields: readonly PdfValue[]): Promise<boolean> {
  return !(await someAsync(fields, async (widget) => {
    const [before, after] = [await signed.dictionary(widget), await plainDictionary(later, widget)];
    if (before === undefined || after === undefined) return true;
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
  const [left, bottom, right, top] = itemsOf(await document.resolve(entries.get('Rect'))).map(numberOf);
  return left !== right && bottom !== top;
}

async function someAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true;
  return false;
}

function itemsOf(value: PdfValue): readonly PdfValue[] {
  return isOf(value, 'array') ? value.items : [];
}
