import { inFileSystem } from '../files/file-system-errors.ts';
import { listedFile } from '../formats/catalogs.ts';
import { contentReader } from '../formats/recognise.ts';
import { signingErrors } from './errors.ts';
import { openPlanned } from './files/open-file.ts';
import type { Planned, PlannedFile } from './planned-file.ts';
import type { Run } from './run.ts';

/**
 * Throws `catalog-member-changes` if the run would change a file that a catalog of the same run lists. The files are read
 * only if there is a catalog among them.
 */
export async function checkCatalogMembers(
  planned: readonly Planned[],
  { formats, digestEntries, onEvent }: Pick<Run, 'formats' | 'digestEntries' | 'onEvent'>,
): Promise<void> {
  const plans = planned.flatMap((one) => ('plan' in one && one.plan.skipped === undefined ? [one.plan] : []));
  const isCatalog = ({ format }: PlannedFile): boolean => format.listsFiles === true;
  const reader = () => contentReader(digestEntries);
  const catalogs = await Promise.all(
    plans.filter(isCatalog).map(async (plan) => {
      await using input = await openPlanned(plan, onEvent);
      return { path: plan.path, file: await plan.format.open(input.source, reader(), plan.output) };
    }),
  );
  if (catalogs.length === 0) return;
  for (const plan of plans.filter((one) => !isCatalog(one))) {
    await using input = await openPlanned(plan, onEvent);
    const file = await inFileSystem('read the file', () => listedFile(input.source, reader(), plan.path, formats));
    const catalog = catalogs.find((one) => one.file.lists?.(file) === 'listed');
    if (catalog !== undefined)
      throw signingErrors('catalog-member-changes', { path: plan.path, catalog: catalog.path });
  }
}
