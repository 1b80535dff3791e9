/** Scripts read these documents: members may be added, but not renamed. */

import type { ChangeFilesResult, FileOutcome } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import { errorJson } from '../json.ts';
import type { ChangeVerb } from './outcomes.ts';

export function changesJson({ files, warnings }: ChangeFilesResult, verb: ChangeVerb) {
  const counts: Record<string, number> = { [verb]: 0, skipped: 0, failed: 0 };
  for (const { status } of files) counts[status] = (counts[status] ?? 0) + 1;
  const summary = { ...counts, notAttempted: files.filter(isNotAttempted).length };
  return { files: files.map(fileJson), summary, warnings };
}

function fileJson(outcome: FileOutcome) {
  const { path, format, status, warnings, ...members } = outcome;
  return { path, format, status, ...members, ...otherNames(outcome), warnings };
}

function otherNames(outcome: FileOutcome) {
  if (outcome.status === 'failed') return { error: errorJson(outcome.error) };
  return outcome.status === 'timestamped' ? { authority: undefined, timestampAuthority: outcome.authority } : {};
}
