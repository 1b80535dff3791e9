/** The JSON document of `timestamp`, `remove` and `attach`: its shape is fixed, scripts read it. */

import type { ChangedOutcome, ChangeFilesResult, ChangeOutcome } from '../../../signing/change-outcome.ts';
import { errorJson, warningsJson } from '../json.ts';

type Verb = ChangedOutcome['status'];

export type ChangeSummary = Readonly<{ skipped: number; failed: number } & Partial<Record<Verb, number>>>;

/** How many files ended how; `verb`, what was asked for, is there even when it is 0. */
export function summarise(files: readonly ChangeOutcome[], verb: Verb): ChangeSummary {
  const count = (wanted: string): number => files.filter(({ status }) => status === wanted).length;
  return { [verb]: count(verb), skipped: count('skipped'), failed: count('failed') };
}

export function changesJson({ files, warnings }: ChangeFilesResult, verb: Verb) {
  return { files: files.map(fileJson), summary: summarise(files, verb), ...warningsJson(warnings) };
}

function fileJson(outcome: ChangeOutcome) {
  const { path, format, status } = outcome;
  const told = warningsJson(outcome.warnings);
  switch (outcome.status) {
    case 'skipped':
      return { path, output: outcome.output, format, status, reason: outcome.reason, ...told };
    case 'failed':
      return { path, format, status, error: errorJson(outcome.error), ...told };
    default: {
      const { output, bytes, milliseconds } = outcome;
      return { path, output, format, status, ...doneJson(outcome), bytes, milliseconds, ...told };
    }
  }
}

function doneJson(outcome: ChangedOutcome) {
  switch (outcome.status) {
    case 'timestamped': {
      const { timestamp, authority, signatures } = outcome;
      return { timestamp, timestampAuthority: authority, signatures };
    }
    case 'removed':
      return { signatures: outcome.signatures, removed: outcome.removed };
    case 'attached':
      return { signer: outcome.signer, ...(outcome.replaced.length > 0 ? { replaced: outcome.replaced } : {}) };
  }
}
