/** What updates changed in a document, in the classes that permissions are about (ISO 32000-2, 12.8.2.2). */

import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import type { IndirectObject } from '../../../pdf-syntax/objects.ts';
import type { NumberRange } from '../../../pdf-syntax/section.ts';
import { differingKeys, isOf, isSameValue, nameOf, type PdfDictionary } from '../../../pdf-syntax/values.ts';
import { type Change, content } from './change.ts';
import { annotationChanges, formChanges, isAnnotation } from './lists.ts';
import { type FieldRole, type Roles, rolesOf } from './roles.ts';

const MAX_CHANGED = 50_000;

/** Of the catalog: keys that say nothing of what is shown. The form is compared by itself. */
const QUIET_CATALOG_KEYS = ['AcroForm', 'DSS', 'Extensions', 'Metadata', 'Perms', 'Version'];
const QUIET_PAGE_KEYS = ['Annots', 'LastModified', 'Metadata'];
const FIELD_VALUE_KEYS = ['V', 'AS', 'AP', 'M', 'MK', 'I', 'F', 'RV', 'TI', 'NM'];

/** `later`: how many sections of `after` are updates that `before` does not have. Validation data and metadata are no changes. */
export async function changesAfter(before: PdfDocument, after: PdfDocument, later: number): Promise<readonly Change[]> {
  if (before.root.number !== after.root.number) return [content('the catalog was exchanged')];
  const numbers = numbersIn(after.sections.slice(0, later).flatMap(({ ranges }) => ranges));
  if (numbers === undefined) return [content(`more than ${MAX_CHANGED} objects`)];
  const changes: Change[] = [...(await formChanges(before, after))];
  const added = new Set<number>();
  const changed: { readonly old: IndirectObject; readonly now: IndirectObject }[] = [];
  for (const number of numbers) {
    const [old, now] = [await before.object(number), await after.object(number)];
    if (old === undefined && now !== undefined) added.add(number);
    else if (old !== undefined && now === undefined) changes.push(content(`object ${number}, which is gone`));
    else if (old !== undefined && now !== undefined && isChanged(old, now)) changed.push({ old, now });
  }
  const roles = await rolesOf(before, after, added);
  if (roles.missing !== undefined) changes.push(content(`object ${roles.missing}, which was missing`));
  for (const { old, now } of changed) {
    if (roles.quiet.has(old.number)) continue;
    for (const change of await changeOf(old, now, roles, [before, after])) changes.push(change);
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

async function changeOf(
  old: IndirectObject,
  now: IndirectObject,
  roles: Roles,
  documents: readonly [PdfDocument, PdfDocument],
): Promise<readonly Change[]> {
  const { number } = old;
  const { catalog, form, fields, appearances } = roles;
  const [before, after] = documents;
  const field = fields.get(number);
  if (form.has(number)) return [];
  if (appearances.has(number)) return [{ kind: 'form', what: `an appearance (object ${number})` }];
  if (isOf(old.value, 'array') && isOf(now.value, 'array')) {
    return annotationChanges([old.value, now.value], roles, documents);
  }
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
    ] as const;
    const annotations = keys.includes('Annots') ? await annotationChanges(lists, roles, documents) : [];
    return [...others.map((key) => content(`page object ${number} (/${key})`)), ...annotations];
  }
  if (isAnnotation(old.value) && isAnnotation(now.value)) {
    return [{ kind: 'comment', what: `annotation object ${number}`, covers: true }];
  }
  return [content(`object ${number}`)];
}

async function fieldChange(
  { name, isSignature }: FieldRole,
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
