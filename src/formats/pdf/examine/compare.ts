/** Compares everything that a reader can reach from the catalog in two revisions of a document. */

import { forEachReference } from '../../../pdf-syntax/all-objects.ts';
import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { pdfErrors } from '../../../pdf-syntax/errors.ts';
import {
  isInteger,
  isOf,
  isSameValue,
  keyOf,
  nameOf,
  numberOf,
  type PdfArray,
  type PdfDictionary,
  type PdfReference,
  type PdfValue,
} from '../../../pdf-syntax/values.ts';
import type { Additions } from './additions.ts';
import { endOfSameStream, isExact, NOTHING, reach } from './reached.ts';

export interface Revisions {
  readonly signed: PdfDocument;
  readonly last: PdfDocument;
  /** Numbers of objects with another offset in the last revision. */
  readonly moved: ReadonlySet<number>;
}

/** Two values that a reader reaches by the same path. */
export interface Pair {
  readonly old: PdfValue;
  readonly now: PdfValue;
  readonly above: Pair | undefined;
  /** Key or index in `above`; undefined if it was not recorded. */
  readonly key: string | number | undefined;
  readonly reference?: PdfReference | undefined;
  /** Role of the value, which decides about permitted additions. */
  readonly role:
    | 'plain'
    | 'catalog'
    | 'form'
    | 'fields'
    | 'field'
    | 'annotations'
    | 'structure'
    | 'element'
    | 'kids'
    | 'numbers';
  /** Certifications of level 2 or 3 permit some changes to forms and comments. */
  readonly area: Area;
}

type Area = 'content' | 'form';

export interface Differences {
  /** The first difference in each area. The one in a form is recorded only if the content has none. */
  readonly content?: Pair;
  readonly form?: Pair;
  readonly isCertificationRemoved: boolean;
}

interface Unmoved {
  readonly references: readonly PdfReference[];
  readonly container: number | undefined;
  readonly end: number;
}

export type UnmovedObjects = Map<number, Unmoved>;

/** Entries of the catalog that readers do not display. */
const UNSEEN = ['DSS', 'Extensions', 'Metadata'];
/** Entries that change when a form is filled in or a comment is added. */
const FORM_KEYS = {
  catalog: ['AcroForm', 'StructTreeRoot'],
  page: ['Annots', 'LastModified', 'StructParents', 'Tabs'],
};
/** Keys that lead to fields and to elements of the structure. */
const LINKS: readonly Pair['key'][] = ['K', 'Obj', 'P', 'Parent'];
const RECTANGLES: readonly Pair['key'][] = ['Rect', 'MediaBox', 'CropBox', 'BleedBox', 'TrimBox', 'ArtBox', 'BBox'];
/** Limit for pairs of different references, because updates could create endless chains of them. */
const MAX_RENUMBERED = 10_000;

/**
 * Compares each pair once, so the time is linear. `unmoved` is a cache shared by all signatures of the document, with
 * which no keys are recorded; undefined to record all keys.
 */
export async function differencesBetween(
  { signed, last, moved }: Revisions,
  additions: Additions,
  unmoved: UnmovedObjects | undefined,
): Promise<Differences> {
  const found: { content?: Pair; form?: Pair } = {};
  const waiting: Record<Area, Pair[]> = { content: [], form: [] };
  const isNew = rememberPairs(Math.max(signed.nextNumber, last.nextNumber));
  let isCertificationRemoved = false;

  const isUnmoved = ({ container, end }: Unmoved, number: number): boolean =>
    !moved.has(number) && (container === undefined || !moved.has(container)) && end <= signed.source.size;

  // Under another key its entries could be fonts or destinations, which have any names.
  const roleReached = ({ old, now, role, key }: Pair): Pair['role'] => {
    const isLinked = typeof key === 'number' || LINKS.includes(key);
    if (role !== 'plain' || !isLinked || !isSameValue(old, now)) return role;
    return additions.filled.has(keyOf(old)) ? 'field' : (additions.grown.get(keyOf(old)) ?? role);
  };

  const differ = (pair: Pair): void => {
    found[pair.area] ??= pair;
  };

  function compare(pair: Pair): void {
    const { old, now, role, area } = pair;
    if (isOf(old, 'reference') || isOf(now, 'reference')) {
      // Acrobat refers to the catalog in /Data of a signature. Under any other key, it could be the contents of a page.
      const isCatalog = pair.key === 'Data' && isSameValue(old, signed.root) && isSameValue(now, last.root);
      const reached: Pair = { ...pair, role: roleReached(pair) };
      if (!isCatalog && isNew(reached)) waiting[area].push(reached);
    } else if (
      isOf(now, 'array') &&
      (isOf(old, 'array') || (old === null && (role === 'fields' || role === 'annotations')))
    ) {
      compareArrays(old === null ? [] : old.items, now.items, pair);
    } else if (isOf(now, 'dictionary') && (isOf(old, 'dictionary') || (old === null && role === 'form'))) {
      compareDictionaries(old === null ? new Map() : old.entries, now.entries, pair);
    } else if (!isSameValue(old, now)) differ(pair);
  }

  function compareArrays(before: PdfArray['items'], after: PdfArray['items'], above: Pair): void {
    const { key: name, role, area } = above;
    if (RECTANGLES.includes(name) && areSameNumbers(before, after)) return;
    // The position of a new field has no meaning. A new annotation may only be drawn over the others.
    const added = role === 'fields' ? additions.fields : role === 'kids' ? additions.elements : undefined;
    const kept = added === undefined ? after : after.filter((each) => !added.has(keyOf(each)));
    for (let key = 0; key < Math.max(before.length, kept.length); key += 1) {
      const [old, now] = [before[key], kept[key]];
      if (old === undefined && role === 'annotations' && additions.widgets.has(keyOf(now))) continue;
      if (old === undefined && role === 'numbers' && isOfNewElement(kept, key)) continue;
      const pair: Pair = { old: old ?? null, now: now ?? null, above, key, role: 'plain', area };
      if (old === undefined || now === undefined) differ(pair);
      else compare(pair);
    }
  }

  /** The tree of numbers leads from one that is higher than those before to each new element. */
  function isOfNewElement(numbers: PdfArray['items'], index: number): boolean {
    const at = index - (index % 2);
    const [last, number, element] = [numbers[at - 2] ?? -1, numbers[at], numbers[at + 1]];
    return isInteger(last) && isInteger(number) && number > last && additions.elements.has(keyOf(element));
  }

  function compareDictionaries(before: PdfDictionary['entries'], after: PdfDictionary['entries'], above: Pair): void {
    const { role } = above;
    const isOfPage = isPage(above.old);
    const formKeys = role === 'catalog' ? FORM_KEYS.catalog : isOfPage ? FORM_KEYS.page : [];
    const ownKeys = role === 'field' ? additions.filled.get(keyOf(above.reference)) : undefined;
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [old, now] = [before.get(key) ?? null, after.get(key) ?? null];
      if (isSimple(old) && isSameValue(old, now)) continue;
      if (ownKeys?.includes(key) || (role === 'form' && additions.formKeys.includes(key))) continue;
      if (role === 'catalog' && (UNSEEN.includes(key) || (key === 'Version' && isRaised(old, now)))) continue;
      if (role === 'structure' && key === 'ParentTreeNextKey' && isInteger(old) && isInteger(now) && now > old)
        continue;
      if (role === 'catalog' && key === 'Perms' && now === null) isCertificationRemoved = true;
      else {
        const area = formKeys.includes(key) ? 'form' : above.area;
        compare({ old, now, above, key, area, role: isOfPage && key === 'Annots' ? 'annotations' : roleIn(role, key) });
      }
    }
  }

  async function compareReached(pair: Pair): Promise<void> {
    const { old, now, role } = pair;
    const same = isOf(old, 'reference') && isSameValue(old, now) ? old : undefined;
    const number = same?.number;
    const isPlain = role === 'plain' && same?.generation === 0;
    const known = number !== undefined && isPlain ? unmoved?.get(number) : undefined;
    if (known !== undefined && number !== undefined && isUnmoved(known, number)) {
      return compareReferences(known.references, pair);
    }
    const entry = number === undefined ? undefined : signed.entry(number);
    const container = entry?.type === 'in-stream' ? entry.stream : undefined;
    const isShared = number !== undefined && isUnmoved({ references: [], container, end: 0 }, number);
    const before = await reach(signed, old);
    if (!isShared && !(await isExact(last, now))) return differ(pair);
    const after = isShared ? before : await reach(last, now);
    const isStream = before.streamStart !== undefined || after.streamStart !== undefined;
    const end = isStream ? await endOfSameStream(signed, before, last, after) : 0;
    if (end === undefined || before.isStale !== after.isStale) return differ(pair);
    if (isShared && isPlain && before !== NOTHING && unmoved !== undefined && !isPage(before.value)) {
      const references: PdfReference[] = [];
      forEachReference(before.value, (reference) => references.push(reference));
      if (!references.some((reference) => isSameValue(reference, signed.root))) {
        unmoved.set(number, { references, container, end });
        return compareReferences(references, pair);
      }
    }
    compare({
      ...pair,
      old: before.value,
      now: after.value,
      reference: same,
      role: isStream ? 'plain' : role,
    });
  }

  function compareReferences(references: readonly PdfReference[], above: Pair): void {
    for (const each of references)
      compare({ old: each, now: each, above, key: undefined, role: 'plain', area: above.area });
  }

  compare({ old: signed.root, now: last.root, above: undefined, key: undefined, role: 'catalog', area: 'content' });
  for (const area of ['content', 'form'] as const) {
    while (waiting[area].length > 0 && found.content === undefined && found[area] === undefined) {
      const pairs = waiting[area];
      waiting[area] = [];
      for (const pair of await inStoredOrder(last, pairs)) await compareReached(pair);
    }
  }
  return { ...found, isCertificationRemoved };
}

/** Roles of the values in a dictionary, by the role of the dictionary and the key. */
const ROLES_BELOW: Readonly<Partial<Record<Pair['role'], Readonly<Record<string, Pair['role']>>>>> = {
  catalog: { AcroForm: 'form', StructTreeRoot: 'structure' },
  form: { Fields: 'fields' },
  structure: { K: 'kids', ParentTree: 'numbers' },
  element: { K: 'kids' },
  numbers: { Nums: 'numbers' },
};

const roleIn = (role: Pair['role'], key: string): Pair['role'] => ROLES_BELOW[role]?.[key] ?? 'plain';

const isPage = (value: PdfValue): boolean => isOf(value, 'dictionary') && nameOf(value.entries.get('Type')) === 'Page';

/** Readers treat `1` and `1.0` as equal there. */
const areSameNumbers = (a: PdfArray['items'], b: PdfArray['items']): boolean =>
  a.length === b.length &&
  a.every((item, index) => numberOf(item) !== undefined && numberOf(item) === numberOf(b[index]));

const isSimple = (value: PdfValue): boolean =>
  !isOf(value, 'reference') && !isOf(value, 'array') && !isOf(value, 'dictionary');

/** Readers ignore a lower value. */
function isRaised(old: PdfValue, now: PdfValue): boolean {
  return (old === null || isOf(old, 'name')) && Number(nameOf(now)) > Number(nameOf(old) ?? 0);
}

/** Returns false for two references that were already compared in the same role. */
function rememberPairs(numbers: number): (pair: Pair) => boolean {
  const plain = new Uint8Array(numbers);
  const others = new Set<string>();
  let renumbered = 0;
  return ({ old, now, role }) => {
    const isSame = isSameValue(old, now);
    if (isSame && role === 'plain' && isOf(old, 'reference') && old.generation === 0 && old.number < numbers) {
      plain[old.number] = (plain[old.number] ?? 0) + 1;
      return plain[old.number] === 1;
    }
    if (!isSame) renumbered += 1;
    if (renumbered > MAX_RENUMBERED) {
      throw pdfErrors('pdf-too-large', { limit: MAX_RENUMBERED, what: 'renumbered objects' });
    }
    const key = `${role} ${keyOf(old)} ${keyOf(now)}`;
    if (others.has(key)) return false;
    if (isOf(old, 'reference') && isOf(now, 'reference')) others.add(key);
    return true;
  };
}

/** Sorts objects by object stream, so that each stream is decoded once. */
async function inStoredOrder(document: PdfDocument, pairs: readonly Pair[]): Promise<readonly Pair[]> {
  if (pairs.length === 1) return pairs;
  const places = new Float64Array(pairs.length);
  for (const [index, { now }] of pairs.entries()) {
    const entry = isOf(now, 'reference') ? document.entry(now.number) : undefined;
    if (entry?.type === 'in-stream') places[index] = -entry.stream;
    else if (entry?.type === 'in-file') places[index] = entry.offset;
  }
  const order = Uint32Array.from(pairs.keys()).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  return Array.from(order, (index) => pairs[index]).filter((pair) => pair !== undefined);
}
