import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { type Field, pagesOf, readForm } from '../../../pdf-syntax/structure.ts';
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

export interface Additions {
  /** References to new signature fields, and to their widgets. */
  readonly fields: ReadonlySet<string>;
  readonly widgets: ReadonlySet<string>;
  /** For each object reference, the keys that may change in empty signature fields and their widgets. */
  readonly freeKeys: ReadonlyMap<string, readonly string[]>;
  /**
   * Returns the keys that may change in the form dictionary. With `inShort`, does not read the pages if the values of
   * these keys are equal.
   */
  formKeys(inShort: boolean): Promise<readonly string[]>;
  /** True if a new field occupies an area on a page, where it may cover signed content. */
  readonly isVisible: boolean;
}

export interface Restrictions extends Pick<StoredSignature, 'lock'> {
  readonly permission: number | undefined;
}

export interface LaterSignatures {
  readonly stored: readonly StoredSignature[];
  isTimestampIntact(stored: StoredSignature): Promise<boolean>;
}

/** Keys that signing sets in a widget, including /F, because Adobe Reader locks the widget. */
const WIDGET_KEYS = ['AP', 'AS', 'F', 'MK'];
const ACTIVE_KEYS = ['A', 'AA'];
const LOCKED = 128;
/**
 * Adobe Reader and DSS add these keys together with a signature field, although no reader uses them to draw the field.
 */
const DRAWN_DEFAULTS = ['DA', 'DR'];
const DRAWN_KINDS = ['FreeText', 'Widget'];

export async function findAdditions(
  signed: PdfDocument,
  later: PdfDocument,
  signedFields: readonly Field[],
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

  const freeKeys = new Map<string, readonly string[]>();
  const form = await readForm(signed);
  const names = new Set(signedFields.map(({ name }) => name));
  const signatureWidgets = new Set<string>();
  for (const { name, reference, type, value, dictionary } of signedFields) {
    if (type !== 'Sig') continue;
    const kids = await signed.items(dictionary.entries.get('Kids'));
    const widgets = kids.length > 0 ? kids : [reference];
    for (const widget of widgets) signatureWidgets.add(keyOf(widget));
    const signature = laterByField.get(keyOf(reference));
    if (signature === undefined || (await signed.resolve(value)) !== null || !(await isAllowed(signature, name)))
      continue;
    if (!(await everyAsync([reference, ...kids], (each) => isSigned(signed, later, reference, each)))) continue;
    // Anyone can get a timestamp, so a timestamp does not prove who added the field.
    const widgetKeys = isDocumentTimestamp(signature) ? [] : WIDGET_KEYS;
    for (const widget of widgets) freeKeys.set(keyOf(widget), widgetKeys);
    freeKeys.set(keyOf(reference), ['V', ...(freeKeys.get(keyOf(reference)) ?? [])]);
  }

  const [fields, widgets] = [new Set<string>(), new Set<string>()];
  let isVisible = false;
  const laterForm = await readForm(later);
  const before = new Set((await signed.items(form?.entries.get('Fields'))).map(keyOf));
  for (const reference of await later.items(laterForm?.entries.get('Fields'))) {
    const field = before.has(keyOf(reference)) ? undefined : await newSignatureField(signed, later, reference);
    const signature = laterByField.get(keyOf(reference));
    if (field === undefined || names.has(field.name) || (field.isSigned && signature === undefined)) continue;
    const isHidden = await everyAsync([...field.widgets.values()], (widget) => hasNoArea(later, widget));
    if ((permission === 1 && !(isHidden && field.isSigned)) || !(await isAllowed(signature, field.name))) continue;
    isVisible ||= !isHidden;
    fields.add(keyOf(reference));
    for (const widget of field.widgets.keys()) widgets.add(keyOf(widget));
  }
  const formKeys = async (inShort: boolean) => {
    const areEqual = await everyAsync(DRAWN_DEFAULTS, async (key) =>
      isSameValue(await signed.resolve(form?.entries.get(key)), await later.resolve(laterForm?.entries.get(key))),
    );
    if (inShort && areEqual) return [];
    const hasOthers = signedFields.some(({ type }) => type !== 'Sig') || (await showsOthers(signed, signatureWidgets));
    return hasOthers ? [] : DRAWN_DEFAULTS;
  };
  return { fields, widgets, freeKeys, formKeys, isVisible };
}

async function showsOthers(document: PdfDocument, widgets: ReadonlySet<string>): Promise<boolean> {
  for await (const { page } of pagesOf(document)) {
    for (const annotation of await document.items(page.entries.get('Annots'))) {
      if (widgets.has(keyOf(annotation))) continue;
      const shown = await document.dictionary(annotation);
      if (DRAWN_KINDS.includes(nameOf(await document.resolve(shown?.entries.get('Subtype'))) ?? '')) return true;
    }
  }
  return false;
}

/** Returns undefined if the field is not of the expected type, or includes an object of the signed revision. */
async function newSignatureField(signed: PdfDocument, later: PdfDocument, reference: PdfValue) {
  const field = await newDictionary(signed, later, reference);
  if (field === undefined) return undefined;
  const { entries } = field;
  if (nameOf(await later.resolve(entries.get('FT'))) !== 'Sig' || entries.has('Parent')) return undefined;
  const kids = await later.items(entries.get('Kids'));
  const widgets = new Map<PdfValue, PdfDictionary>(kids.length === 0 ? [[reference, field]] : []);
  for (const kid of kids) {
    const widget = await newDictionary(signed, later, kid);
    // pyHanko writes widgets that contain no reference to their field.
    const isOwn = isSameValue(widget?.entries.get('Parent') ?? reference, reference);
    if (widget === undefined || !isOwn || hasAny(widget, ['FT', 'Kids', 'T', 'V'])) return undefined;
    widgets.set(kid, widget);
  }
  const all = [...widgets.values()];
  if ([field, ...all].some((each) => hasAny(each, ACTIVE_KEYS))) return undefined;
  if (!(await everyAsync(all, (each) => isWidget(later, each)))) return undefined;
  return {
    name: textOf(await later.resolve(entries.get('T'))) ?? '',
    isSigned: (await later.resolve(entries.get('V'))) !== null,
    widgets,
  };
}

const hasAny = ({ entries }: PdfDictionary, keys: readonly string[]): boolean => keys.some((key) => entries.has(key));

async function isWidget(document: PdfDocument, { entries }: PdfDictionary): Promise<boolean> {
  const subtype = await document.resolve(entries.get('Subtype'));
  return subtype === null || nameOf(subtype) === 'Widget';
}

async function newDictionary(
  signed: PdfDocument,
  later: PdfDocument,
  value: PdfValue,
): Promise<PdfDictionary | undefined> {
  const isNew = isOf(value, 'reference') && (signed.entry(value.number)?.type ?? 'free') === 'free';
  return isNew ? plainDictionary(later, value) : undefined;
}

async function plainDictionary(document: PdfDocument, value: PdfValue): Promise<PdfDictionary | undefined> {
  if (!isOf(value, 'reference')) return isOf(value, 'dictionary') ? value : undefined;
  const object = await document.object(value.number);
  const isPlain = object?.generation === value.generation && object.streamStart === undefined;
  return isPlain && isOf(object.value, 'dictionary') ? object.value : undefined;
}

/** Returns true if signing left valid values in the field and its widget, and no other field has that widget. */
async function isSigned(
  signed: PdfDocument,
  later: PdfDocument,
  field: PdfReference,
  widget: PdfValue,
): Promise<boolean> {
  const [before, after] = [await signed.dictionary(widget), await plainDictionary(later, widget)];
  if (before === undefined || after === undefined || !(await isWidget(signed, before))) return false;
  const type = nameOf(await signed.resolve(before.entries.get('FT'))) ?? 'Sig';
  if (type !== 'Sig' || (widget !== field && hasAny(before, ['Kids', 'T']))) return false;
  const [old, now] = [before.entries.get('F') ?? 0, after.entries.get('F') ?? 0];
  const state = after.entries.get('AS');
  const areDictionaries = await everyAsync(['AP', 'MK', 'V'], async (key) => {
    const value = after.entries.get(key);
    return value === undefined || (await plainDictionary(later, value)) !== undefined;
  });
  const isOnlyLocked = isInteger(old) && isInteger(now) && (old | LOCKED) === (now | LOCKED);
  return areDictionaries && isOnlyLocked && (state === undefined || isOf(state, 'name'));
}

async function hasNoArea(document: PdfDocument, { entries }: PdfDictionary): Promise<boolean> {
  const sides = (await document.items(entries.get('Rect'))).map(numberOf);
  const [left, bottom, right, top] = sides;
  return !sides.includes(undefined) && (left === right || bottom === top);
}

async function everyAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (!(await test(item))) return false;
  return true;
}
