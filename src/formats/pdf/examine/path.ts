import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { pagesOf } from '../../../pdf-syntax/structure.ts';
import { keyOf } from '../../../pdf-syntax/values.ts';
import type { Pair } from './compare.ts';

const MOST_KEYS_SHOWN = 8;

export async function pathOf(document: PdfDocument, pair: Pair): Promise<string> {
  if (pair.key === 'Length' && pair.above !== undefined) return pathOf(document, pair.above);
  const pages = await pageNumbers(document);
  const keys: string[] = [];
  for (let at: Pair | undefined = pair; at !== undefined; at = at.above) {
    const page = pages.get(keyOf(at.reference ?? at.old));
    if (page !== undefined) return [`page ${page}`, ...shown(keys)].join(', ');
    if (at.key !== undefined) keys.unshift(typeof at.key === 'number' ? `[${at.key}]` : `/${at.key}`);
  }
  return ['the catalog', ...shown(keys)].join(', ');
}

function shown(keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  return [keys.length > MOST_KEYS_SHOWN ? `… ${keys.slice(-MOST_KEYS_SHOWN).join(' ')}` : keys.join(' ')];
}

async function pageNumbers(document: PdfDocument): Promise<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>();
  for await (const { value } of pagesOf(document)) numbers.set(keyOf(value), numbers.size + 1);
  return numbers;
}
