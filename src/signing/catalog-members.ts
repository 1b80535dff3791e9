import { inFileSystem } from '../files/file-system-errors.ts';
import { isCatalog, listedFile } from '../formats/catalogs.ts';
import { contentReader } from '../formats/recognise.ts';
import { signingErrors } from './errors.ts';
import { openPlanned } from './files/open-file.ts';
import type { Planned } from './planned-file.ts';
import type { StartedRun } from './run.ts';

/** Throws `catalog-member-changes` if the run would change a file that is listed in a catalog of the same run. */
export async function checkCatalogMembers(
  planned: readonly Planned[],
  run: Pick<StartedRun, 'digestEntries' | 'onEvent' | 'stop'>,
): Promise<void> {
  const plans = planned.flatMap((one) => ('plan' in one && one.plan.skipped === undefined ? [one.plan] : []));
  const reader = () => contentReader(run.digestEntries);
  const catalogs = await Promise.all(
    plans
      .filter(({ format }) => isCatalog(format.id))
      .map(async (plan) => {
        await using input = await openPlanned(plan, run);
        return { path: plan.path, file: await plan.format.open(input.source, reader(), plan.output) };
      }),
  );
  if (catalogs.length === 0) return;
  for (const plan of plans.filter(({ format }) => !isCatalog(format.id))) {
    await using input = await openPlanned(plan, run);
    const file = await inFileSystem('read the file', () => listedFile(input.source, reader(), plan.path));
    const catalog = catalogs.find((one) => one.file.catalog?.state(file) === 'listed');
    if (catalog !== undefined)
      throw signingErrors('catalog-member-changes', { path: plan.path, catalog: catalog.path });
  }
}
