import { measureContent } from '../crypto/measure-content.ts';
import { createWorkBudget } from '../crypto/work-budget.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { ContentReader } from './format.ts';

/** For one file: all checks of it are charged to one budget. */
export function contentReader(digestEntries: DigestEntries): ContentReader {
  return { measure: measureContent, digestEntries, budget: createWorkBudget() };
}
