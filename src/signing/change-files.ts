/** A run over several files that are changed without the service: all judged first, then changed side by side; one failure stops no other. */

import { startBatch } from './batch.ts';
import type { Changing } from './change.ts';
import { runChange } from './change-file.ts';
import type { ChangeFilesResult } from './change-outcome.ts';
import { type PlannedChange, planChange } from './change-plan.ts';
import { sideBySide } from './concurrently.ts';
import type { FileToSign } from './outcome.ts';
import { patientListener } from './patient-listener.ts';
import { bytesToRead, type Judging, judgeFiles } from './plan-files.ts';

/**
 * Never throws for what one file does: each has its outcome, in the order given. When `signal` aborts, nothing new starts
 * and files under way are finished.
 */
export async function changeFiles(
  files: readonly FileToSign[],
  given: Changing,
  signal?: AbortSignal,
): Promise<ChangeFilesResult> {
  const { onEvent, warnings } = patientListener(given.onEvent);
  const changing: Changing = { ...given, onEvent };
  const batch = startBatch();
  const interrupt = (): void => batch.stop('the run was interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  try {
    const judging: Judging<PlannedChange> = {
      ...changing,
      plan: (file, options) => planChange(file, changing, options),
      isWritten: ({ skipped }) => skipped === undefined,
    };
    const judgements = await judgeFiles(files, judging, batch);
    const places = { concurrency: changing.concurrency, bytesOf: bytesToRead(judging.isWritten) };
    const outcomes = await sideBySide(judgements, places, (judgement) => runChange(judgement, changing, batch));
    return { files: outcomes, warnings };
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}
