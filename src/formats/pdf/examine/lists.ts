/** What updates changed in the lists of a document: the annotations of its pages, and the fields of its form. */

import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { readForm } from '../../../pdf-syntax/structure.ts';
import {
  differingKeys,
  isOf,
  isSameValue,
  nameOf,
  type PdfDictionary,
  type PdfValue,
} from '../../../pdf-syntax/values.ts';
import { type Change, content } from './change.ts';
import { type Roles, widgetsOf } from './roles.ts';

const FORM_LOOKS = ['DR', 'DA', 'Q', 'NeedAppearances'];

export function isAnnotation({ entries }: PdfDictionary): boolean {
  return entries.has('Subtype') && entries.has('Rect') && nameOf(entries.get('Type')) !== 'XObject';
}

/** Of the annotations of a page. Widgets of new signatures come with them. */
export async function annotationChanges(
  [old, now]: readonly [PdfValue | undefined, PdfValue | undefined],
  { fields }: Pick<Roles, 'fields'>,
  [before, after]: readonly [PdfDocument, PdfDocument],
): Promise<readonly Change[]> {
  const [earlier, later] = [itemsOf(old), itemsOf(now)];
  const changes: Change[] = [];
  const differing = [
    ...missingFrom(earlier, later).map((item) => ({ item, document: after, verb: 'added' })),
    ...missingFrom(later, earlier).map((item) => ({ item, document: before, verb: 'removed' })),
  ];
  for (const { item, document, verb } of differing) {
    const annotation = await document.dictionary(item);
    const isOfSignature = isOf(item, 'reference') && fields.get(item.number)?.isSignature === true;
    if (annotation === undefined || !isAnnotation(annotation)) changes.push(content('a list of objects'));
    else if (verb === 'removed' || !isOfSignature) {
      changes.push({ kind: 'comment', what: `an annotation that was ${verb}`, covers: true });
    }
  }
  return changes;
}

/** Items of `list` that are not in the other. Those that are no references must be in the same order in both. */
function missingFrom(other: readonly PdfValue[], list: readonly PdfValue[]): readonly PdfValue[] {
  const keyOf = (item: PdfValue) => (isOf(item, 'reference') ? `${item.number} ${item.generation}` : undefined);
  const keys = new Set(other.map(keyOf));
  const direct = other.filter((item) => keyOf(item) === undefined);
  let index = 0;
  return list.filter((item) => {
    const key = keyOf(item);
    if (key !== undefined) return !keys.has(key);
    index += 1;
    return !isSameValue(direct[index - 1], item);
  });
}

/** Of the form itself, and the fields that were added to it. */
export async function formChanges(before: PdfDocument, after: PdfDocument): Promise<readonly Change[]> {
  const [old, now] = [await readForm(before), await readForm(after)];
  if (now === undefined) return old === undefined ? [] : [content('the form, which is gone')];
  const keys = old === undefined ? [...now.entries.keys()] : differingKeys(old, now);
  const changes: Change[] = [];
  for (const key of keys) {
    if (FORM_LOOKS.includes(key)) changes.push({ kind: 'form', what: `the form (/${key})` });
    else if (key !== 'Fields' && key !== 'SigFlags') changes.push(content(`the form (/${key})`));
  }
  const earlier = itemsOf(await before.resolve(old?.entries.get('Fields')));
  const later = itemsOf(await after.resolve(now.entries.get('Fields')));
  if (earlier.some((item, index) => !isSameValue(item, later[index]))) changes.push(content('the fields of the form'));
  for (const item of later.slice(earlier.length)) {
    const change = await addedField(after, item);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

async function addedField(document: PdfDocument, item: PdfValue): Promise<Change | undefined> {
  const dictionary = await document.dictionary(item);
  if (!isOf(item, 'reference') || dictionary === undefined || nameOf(dictionary.entries.get('FT')) !== 'Sig') {
    return content('a field that was added');
  }
  const widgets = await widgetsOf(document, { reference: item, dictionary });
  for (const { value } of widgets) {
    if (isOf(value, 'dictionary') && (await isVisible(document, value))) {
      return { kind: 'signature', what: 'a signature field that is visible', covers: true };
    }
  }
  const value = await document.dictionary(dictionary.entries.get('V'));
  return nameOf(value?.entries.get('Type')) === 'DocTimeStamp' ? undefined : { kind: 'signature', what: 'a signature' };
}

/** Whether a widget takes an area of its page. */
async function isVisible(document: PdfDocument, { entries }: PdfDictionary): Promise<boolean> {
  const [left, bottom, right, top] = itemsOf(await document.resolve(entries.get('Rect')));
  return left !== right && bottom !== top;
}

function itemsOf(value: PdfValue | undefined): readonly PdfValue[] {
  return isOf(value, 'array') ? value.items : [];
}
