/** iText adds an element to a tagged document (ISO 32000-2, 14.7) for each new signature field. */

import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { readCatalog } from '../../../pdf-syntax/structure.ts';
import {
  isOf,
  keyOf,
  nameOf,
  type PdfDictionary,
  type PdfReference,
  type PdfValue,
} from '../../../pdf-syntax/values.ts';

export interface GrownStructure {
  /** Each new structure element refers to a new widget and contains nothing else, not even text for screen readers. */
  readonly elements: ReadonlySet<string>;
  readonly grown: ReadonlyMap<string, 'structure' | 'element'>;
}

const ELEMENT_KEYS = ['K', 'P', 'Pg', 'S', 'Type'];
const OBJECT_REFERENCE_KEYS = ['Obj', 'Pg', 'Type'];

/** `newDictionary` must return undefined for objects that the signed revision contains. */
export async function findElements(
  signed: PdfDocument,
  later: PdfDocument,
  widgets: ReadonlySet<string>,
  newDictionary: (reference: PdfReference) => Promise<PdfDictionary | undefined>,
): Promise<GrownStructure> {
  const [elements, grown] = [new Set<string>(), new Map<string, 'structure' | 'element'>()];
  if (widgets.size === 0) return { elements, grown };
  const root = (await readCatalog(signed)).entries.get('StructTreeRoot');
  const tree = await later.dictionary((await later.dictionary(root))?.entries.get('ParentTree'));
  const numbers = await later.resolve(tree?.entries.get('Nums'));
  for (const reference of isOf(numbers, 'array') ? numbers.items : []) {
    const element = isOf(reference, 'reference') ? await newDictionary(reference) : undefined;
    const parent = element?.entries.get('P');
    if (element === undefined || !standsFor(element, widgets)) continue;
    if (nameOf((await signed.dictionary(parent))?.entries.get('Type')) !== 'StructElem') continue;
    elements.add(keyOf(reference));
    grown.set(keyOf(parent), 'element').set(keyOf(root), 'structure');
  }
  return { elements, grown };
}

function standsFor({ entries }: PdfDictionary, widgets: ReadonlySet<string>): boolean {
  const kid = entries.get('K');
  return (
    hasOnly(entries, ELEMENT_KEYS) &&
    nameOf(entries.get('S')) === 'Form' &&
    isOf(kid, 'dictionary') &&
    hasOnly(kid.entries, OBJECT_REFERENCE_KEYS) &&
    nameOf(kid.entries.get('Type')) === 'OBJR' &&
    widgets.has(keyOf(kid.entries.get('Obj')))
  );
}

function hasOnly(entries: ReadonlyMap<string, PdfValue>, keys: readonly string[]): boolean {
  return [...entries.keys()].every((key) => keys.includes(key));
}
