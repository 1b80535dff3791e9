import type { ByteSource } from '../bytes/byte-source.ts';
import { inFileSystem } from '../files/file-system-errors.ts';
import type { SignableFile } from '../format/signable-file.ts';
import { isCatalog, listedFile } from '../formats/catalogs.ts';
import { contentReader } from '../formats/recognise.ts';
import { changeEach } from './change-each.ts';
import { previewFile } from './dry-run.ts';
import { signingErrors } from './errors.ts';
import type { FindWritten } from './existing-signatures.ts';
import { openPlanned } from './files/open-file.ts';
import type { FileOutcome, FileToSign, SignFilesResult } from './outcome.ts';
import { planFiles } from './plan-files.ts';
import { type Intent, type Planned, type PlannedFile, type RecognisedFile, WITHOUT_SIGNATURE } from './planned-file.ts';
import { isNotAttempted, type StartedRun, startRun } from './run.ts';
import { recordFile, signFile } from './sign-file.ts';
import {
  allowedRepetitions,
  checkAuditLog,
  checkSignatureLimit,
  countSignatures,
  decideContents,
  decideSigning,
  isKeptForOthers,
  unusedOptions,
} from './signing-policy.ts';
import { type Signing, startSigning } from './signing-run.ts';

/**
 * Returns the outcomes in the order of the files. Throws `too-many-signatures` or `catalog-member-changes` if the run as
 * a whole is not allowed. After `signal` is aborted, the run starts no further work, and waits only for the signature
 * requests that were sent. Without a journal, it also waits for timestamps and reports.
 */
export async function signFiles(
  files: readonly FileToSign[],
  signing: Signing,
  signal?: AbortSignal,
): Promise<SignFilesResult> {
  const { account } = signing;
  if (account === undefined) return await previewFiles(files, signing, signal);
  using run = startSigning(signing, account, signal);
  const planned = await planFiles(files, run, (opened, file, source) =>
    decide(opened, file, source, signing, run.findWritten),
  );
  const warnings = await checkRun(planned, signing, run);
  run.gate.allowRepetitions(allowedRepetitions(planned, signing.policy));
  account.service.expect(Math.min(countSignatures(planned), run.concurrency));
  const outcomes = await changeEach(planned, run, (plan) =>
    isWritten(plan) ? recordFile(plan, run) : signFile(plan, run),
  );
  const reported = await run.reports.finish(outcomes);
  await signing.close?.();
  return resultOf(reported, signing, run, warnings);
}

async function previewFiles(
  files: readonly FileToSign[],
  signing: Signing,
  signal: AbortSignal | undefined,
): Promise<SignFilesResult> {
  const { removeStaleFiles: _, ...disk } = signing.run.disk;
  using run = startRun({ ...signing.run, disk }, signal);
  const planned = await planFiles(files, run, (opened, file, source) => decide(opened, file, source, signing));
  const warnings = await checkRun(planned, signing, run);
  const outcomes = await changeEach(planned, run, (plan) => previewFile(plan, signing, run));
  return resultOf(outcomes, signing, run, warnings);
}

async function decide(
  opened: SignableFile,
  file: RecognisedFile,
  source: ByteSource,
  { context: given, policy, run }: Signing,
  findWritten?: FindWritten,
): Promise<Intent> {
  const { path, output, format, time } = file;
  const context = { ...given, time };
  // A result at a different path must still be written.
  const find = path === output ? findWritten : undefined;
  const planning = { context, policy, digestEntries: run.digestEntries, findWritten: find };
  const inside = await policy.inside?.plan(opened, source, file, planning);
  if (inside !== undefined && (!inside.isToSign || format.signing === undefined)) {
    return decideContents(inside, context, policy);
  }
  if (await isKeptForOthers(opened, file, context, policy)) {
    return { ...WITHOUT_SIGNATURE, skipped: 'signed-by-others' };
  }
  return await decideSigning(opened, format, context, policy, run, find, inside);
}

/** True if an earlier run wrote the file, and only the records are missing. */
function isWritten({ written, contained, isContainerOnly }: PlannedFile): boolean {
  return written !== undefined || (isContainerOnly === true && contained?.toChange.length === 0);
}

/** Checks the run before anything is sent or changed, and returns the warnings about the run. */
async function checkRun(
  planned: readonly Planned[],
  { policy, typedOptions }: Signing,
  run: StartedRun,
): Promise<readonly string[]> {
  const unused = unusedOptions(typedOptions, planned, run.formats);
  for (const error of unused) run.onEvent({ type: 'option-unused', error });
  const option = policy.inside === undefined ? '--all-or-nothing' : '--inside';
  if ((policy.allOrNothing || policy.inside !== undefined) && planned.some((one) => 'error' in one)) {
    run.stop.stop(`another file in this run cannot be signed, and ${option} was used`);
  }
  checkSignatureLimit(planned, policy);
  checkAuditLog(planned, policy);
  await checkCatalogMembers(planned, run);
  return unused.map(({ message, code }) => `${message} [${code}]`);
}

function resultOf(
  files: readonly FileOutcome[],
  { warnings, laterWarnings }: Signing,
  { listenerWarnings }: StartedRun,
  ofRun: readonly string[],
): SignFilesResult {
  const count = (status: FileOutcome['status']): number => files.filter((file) => file.status === status).length;
  const summary = {
    signed: count('signed'),
    unchanged: count('unchanged'),
    skipped: count('skipped'),
    failed: count('failed'),
    planned: count('planned'),
    notAttempted: files.filter(isNotAttempted).length,
  };
  return { files, summary, warnings: [...warnings, ...ofRun, ...listenerWarnings, ...laterWarnings.flat()] };
}

async function checkCatalogMembers(
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
