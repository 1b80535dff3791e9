import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import {
  forEachReference,
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
import { endOfSame, inStoredOrder, isExact, NOTHING, reach } from './reached.ts';

export interface Revisions {
  readonly signed: PdfDocument;
  readonly last: PdfDocument;
  readonly moved: ReadonlySet<number>;
}

/** Role of a PDF value in the document. The role decides which additions are permitted. */
type Role = 'plain' | 'linked' | 'catalog' | 'form' | 'fields' | 'field' | 'annotations';

/** The areas of a document are compared in this order. Every reader must find the same values in an added object. */
const AREAS = ['content', 'form', 'structure', 'addition'] as const;
type Area = (typeof AREAS)[number];

export interface Pair {
  readonly old: PdfValue;
  readonly now: PdfValue;
  readonly above: Pair | undefined;
  readonly key: string | number | undefined;
  readonly reference?: PdfReference | undefined;
  readonly role: Role;
  /** The part of the document, which determines whether a difference makes the signature broken or unsupported. */
  readonly area: Area;
}

/** Results of the first comparison that found no difference. Later comparisons skip these objects. */
export interface Settled {
  unchanged:
    | {
        /** Objects that are identical in the signed and the last revision, and so in all revisions between them. */
        readonly numbers: ReadonlySet<number>;
        /** Pairs of other objects to which the unchanged objects refer. */
        readonly exits: readonly Pair[];
      }
    | undefined;
}

type Rule = (old: PdfValue, now: PdfValue) => boolean;
const NONE: ReadonlySet<string> = new Set();
const always: Rule = () => true;

const FREE: Readonly<Partial<Record<Role, Readonly<Record<string, Rule>>>>> = {
  catalog: {
    DSS: always,
    Extensions: always,
    Metadata: always,
    Perms: (_old, now) => now === null,
    // Readers ignore a PDF version that is lower than the previous one.
    Version: (old, now) => (old === null || isOf(old, 'name')) && Number(nameOf(now)) > Number(nameOf(old) ?? 0),
  },
  form: { SigFlags: always },
};

const FORM = { area: 'form' } as const;
const STRUCTURE = { area: 'structure' } as const;
/** Areas and roles of the values under these keys, if they differ from those of the dictionary's other values. */
const BELOW: Readonly<Record<string, Readonly<Record<string, Partial<Pick<Pair, 'area' | 'role'>>>>>> = {
  catalog: { AcroForm: { ...FORM, role: 'form' }, StructTreeRoot: STRUCTURE },
  form: { Fields: { role: 'fields' } },
  page: { Annots: { ...FORM, role: 'annotations' }, LastModified: FORM, StructParents: STRUCTURE, Tabs: STRUCTURE },
};

/**
 * Roles of objects that unchanged objects refer to. For references under one of the `LINKS`, the additions determine the
 * role.
 */
const REACHED_ROLES: readonly Role[] = ['plain', 'linked', 'field', 'annotations'];

/** Keys of references to form fields. Other keys can lead to other objects, such as fonts. */
const LINKS: readonly Pair['key'][] = ['K', 'Obj', 'P', 'Parent'];
/** Keys of rectangles, in which all readers treat `1` and `1.0` as equal. */
const RECTANGLES: readonly Pair['key'][] = ['Rect', 'MediaBox', 'CropBox', 'BleedBox', 'TrimBox', 'ArtBox', 'BBox'];

/**
 * Returns the first difference. Each pair is compared only once, so the time grows linearly. All signatures of a
 * document use the same `settled` object, in the order of their revisions. If a comparison with `settled` finds a
 * difference, it must be confirmed by a comparison without `settled`.
 */
export async function differenceBetween(
  { signed, last, moved }: Revisions,
  additions: Additions,
  settled: Settled | undefined,
): Promise<Pair | undefined> {
  const found: Partial<Record<Area, Pair>> = {};
  const waiting: Record<Area, Pair[]> = { content: [], form: [], structure: [], addition: [] };
  const seen = new Set<string>();
  const partners = new Map<string, string>();
  const formFreeKeys = await additions.formKeys(settled !== undefined);
  const known = settled?.unchanged;
  const [numbers, exits] = [new Set<number>(), [] as Pair[]];
  let isKnownReached = false;

  const differ = (pair: Pair): void => {
    found[pair.area] ??= pair;
  };

  const isUnmoved = (number: number): boolean => {
    const entry = signed.entry(number);
    return !moved.has(number) && !(entry?.type === 'in-stream' && moved.has(entry.stream));
  };

  function isNew({ old, now, role, area }: Pair): boolean {
    if (!isOf(old, 'reference') || !isOf(now, 'reference')) return true;
    const key = `${keyOf(old)} ${keyOf(now)}`;
    const isAddition = area === 'addition';
    if (seen.has(`plain ${key}`) && (role === 'plain' || role === 'linked' || isAddition)) return false;
    if (seen.has(`linked ${key}`) && isAddition) return false;
    const name = `${isAddition ? area : role} ${key}`;
    return !seen.has(name) && seen.add(name) !== undefined;
  }

  /** Readers identify layers, pages and fields by reference, so an equal object cannot replace one of them. */
  function isSameObject(old: PdfValue, now: PdfValue): boolean {
    if (!isOf(old, 'reference') || !isOf(now, 'reference')) return true;
    if (known?.numbers.has(old.number) || known?.numbers.has(now.number)) return isSameValue(old, now);
    const [before, after] = [`signed ${keyOf(old)}`, `last ${keyOf(now)}`];
    if (!partners.has(before) && !partners.has(after)) partners.set(before, after).set(after, before);
    return partners.get(before) === after && partners.get(after) === before;
  }

  const roleReached = ({ old, now, role, key }: Pair): Role => {
    const isLinked = typeof key === 'number' || LINKS.includes(key);
    if (role !== 'plain' || !isLinked || !isSameValue(old, now)) return role;
    return additions.freeKeys.has(keyOf(old)) ? 'field' : 'linked';
  };

  function compare(pair: Pair): void {
    const { old, now, role, area } = pair;
    // Acrobat writes a reference to the catalog under the key /Data in a signature. Under another key, a reader could
    // draw what the catalog contains.
    if (pair.key === 'Data' && isSameValue(old, signed.root) && isSameValue(now, last.root)) return;
    if (area === 'addition') add(pair);
    else if (isOf(old, 'reference') || isOf(now, 'reference')) {
      const reached: Pair = { ...pair, role: roleReached(pair) };
      if (isNew(reached)) waiting[area].push(reached);
    } else if (
      isOf(now, 'array') &&
      (isOf(old, 'array') || (old === null && (role === 'fields' || role === 'annotations')))
    ) {
      compareArrays(old === null ? [] : old.items, now.items, pair);
    } else if (isOf(now, 'dictionary') && (isOf(old, 'dictionary') || (old === null && role === 'form'))) {
      compareDictionaries(old === null ? new Map() : old.entries, now.entries, pair);
    } else if (!isSameValue(old, now)) differ(pair);
  }

  function add(pair: Pair): void {
    forEachReference(pair.now, (each) => {
      const reached: Pair = { ...pair, old: each, now: each, area: 'addition' };
      if (isNew(reached)) waiting.addition.push(reached);
    });
  }

  function compareArrays(before: PdfArray['items'], after: PdfArray['items'], above: Pair): void {
    const { key: name, role, area } = above;
    if (RECTANGLES.includes(name) && areSameNumbers(before, after)) return;
    const added = role === 'fields' ? additions.fields : role === 'annotations' ? additions.widgets : NONE;
    const isAdded = (item: PdfValue | undefined): boolean => added.has(keyOf(item));
    // A new field may be anywhere in the list. A new annotation must be last, because readers draw annotations in
    // order.
    const kept = role === 'annotations' ? after : after.filter((each) => !isAdded(each));
    if (role !== 'annotations') for (const now of after) if (isAdded(now)) add({ ...above, now });
    for (let key = 0; key < Math.max(before.length, kept.length); key += 1) {
      const [old, now] = [before[key], kept[key]];
      const pair: Pair = { old: old ?? null, now: now ?? null, above, key, role: 'plain', area };
      if (old === undefined && isAdded(now)) add(pair);
      else if (old === undefined || now === undefined) differ(pair);
      else compare(pair);
    }
  }

  function compareDictionaries(before: PdfDictionary['entries'], after: PdfDictionary['entries'], above: Pair): void {
    const { role } = above;
    const kind = isPage(above.old) ? 'page' : role;
    const freeKeys =
      role === 'form' ? formFreeKeys : (role === 'field' && additions.freeKeys.get(keyOf(above.reference))) || [];
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [old, now] = [before.get(key) ?? null, after.get(key) ?? null];
      const pair: Pair = { old, now, above, key, area: above.area, role: 'plain', ...BELOW[kind]?.[key] };
      if (isSimple(old) && isSameValue(old, now)) continue;
      if (freeKeys.includes(key) || FREE[role]?.[key]?.(old, now)) add(pair);
      else compare(pair);
    }
  }

  async function compareReached(pair: Pair): Promise<void> {
    const { old, now, role, area } = pair;
    const isKnown = isOf(now, 'reference') && now.generation === 0 && known?.numbers.has(now.number);
    if (area === 'addition') {
      if (isKnown && isKnownReached) return;
      const reached = await reach(last, now);
      return reached === NOTHING || reached.isStale ? differ(pair) : compare({ ...pair, now: reached.value });
    }
    if (!isSameObject(old, now)) return differ(pair);
    const shared = isOf(old, 'reference') && isSameValue(old, now) ? old : undefined;
    const isShared = shared !== undefined && isUnmoved(shared.number);
    const canSettle = isShared && shared.generation === 0 && (role === 'plain' || role === 'linked');
    if (canSettle && isKnown) return reachKnown(area);
    if (canSettle && numbers.has(shared.number)) return;
    const before = await reach(signed, old);
    if (!isShared && !(await isExact(last, now))) return differ(pair);
    const after = isShared ? before : await reach(last, now);
    const end = await endOfSame(signed, before, last, after);
    const isOtherKind = isOf(old, 'reference') !== isOf(now, 'reference') && role !== 'form';
    // A chain of references is a difference, because a reference to itself would be followed forever.
    const isChain = isOf(before.value, 'reference') || isOf(after.value, 'reference');
    if (isOtherKind && (isChain || isOf(before.value, 'dictionary'))) return differ(pair);
    if (end === undefined || before.isStale !== after.isStale) return differ(pair);
    if (canSettle && settled !== undefined && known === undefined && before !== NOTHING && !before.isStale) {
      numbers.add(shared.number);
      return compareUnchanged(before.value, pair);
    }
    if (shared !== undefined && REACHED_ROLES.includes(role)) {
      const isList = role === 'annotations';
      const key = isList || role === 'plain' ? undefined : 'P';
      exits.push({ old, now, above: undefined, key, role: isList ? role : 'plain', area });
    }
    compare({ ...pair, old: before.value, now: after.value, reference: shared, role: end > 0 ? 'plain' : role });
  }

  /** Unlike `compare`, this function keeps no parsed values in memory. */
  function compareUnchanged(value: PdfValue, above: Pair): void {
    const parts = isPage(value) && isOf(value, 'dictionary') ? value.entries : new Map([[undefined, value]]);
    for (const [part, below] of parts) {
      const place = BELOW.page?.[part ?? ''];
      const role = (isOf(below, 'reference') && place?.role) || 'plain';
      const area = place?.area ?? above.area;
      forEachReference(below, (each, key) => compare({ old: each, now: each, above, key, role, area }), part);
    }
  }

  function reachKnown(area: Area): void {
    // The content is compared before the form, so a value that is first reached through the form is in the form's area.
    if (!isKnownReached) for (const pair of known?.exits ?? []) compare(area === 'content' ? pair : { ...pair, area });
    isKnownReached = true;
  }

  const top = { above: undefined, role: 'catalog', area: 'content' } as const;
  compare({ ...top, old: signed.root, now: last.root, key: undefined });
  const [old, now] = [signed, last].map(({ trailer }) => trailer.entries.get('Info') ?? null) as [PdfValue, PdfValue];
  if (!isSameValue(old, now) || (await reach(signed, old)) !== NOTHING) add({ ...top, old, now, key: 'Info' });
  for (const area of AREAS) {
    while (waiting[area].length > 0 && found.content === undefined && found[area] === undefined) {
      const pairs = waiting[area];
      waiting[area] = [];
      for (const pair of inStoredOrder(last, pairs, ({ now }) => now)) await compareReached(pair);
    }
  }
  const difference = found.content ?? found.addition ?? found.form ?? found.structure;
  if (settled !== undefined && difference === undefined) settled.unchanged ??= { numbers, exits };
  return difference;
}

const isPage = (value: PdfValue): boolean => isOf(value, 'dictionary') && nameOf(value.entries.get('Type')) === 'Page';

const areSameNumbers = (a: PdfArray['items'], b: PdfArray['items']): boolean =>
  a.length === b.length &&
  a.every((item, index) => numberOf(item) !== undefined && numberOf(item) === numberOf(b[index]));

const isSimple = (value: PdfValue): boolean =>
  !isOf(value, 'reference') && !isOf(value, 'array') && !isOf(value, 'dictionary');
