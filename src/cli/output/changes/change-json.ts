/** The JSON documents of `sign`, `timestamp`, `remove` and `attach`. Their members are fixed: scripts read them. */

import type { ChangeFilesResult, FileOutcome } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import { errorJson, warningsJson } from '../json.ts';
import type { ChangeVerb } from './outcomes.ts';

/** The summary has `verb` even for 0 files. */
export function changesJson({ files, warnings }: ChangeFilesResult, verb: ChangeVerb) {
  const count = (status: string): number => files.filter((file) => file.status === status).length;
  const [unchanged, planned] = [count('unchanged'), count('planned')];
  const summary = {
    [verb]: count(verb),
    ...(unchanged > 0 ? { unchanged } : {}),
    skipped: count('skipped'),
    failed: count('failed'),
  };
  const notAttempted = files.filter(isNotAttempted).length;
  return {
    files: files.map(fileJson),
    summary: { ...summary, ...(planned > 0 ? { planned } : {}), notAttempted },
    ...warningsJson(warnings),
  };
}

function fileJson(outcome: FileOutcome) {
  const { path, format, status } = outcome;
  const warnings = warningsJson(outcome.warnings);
  if (outcome.status === 'failed') {
    const kept = outcome.record !== null ? { record: outcome.record, kept: outcome.kept } : {};
    return { path, format, status, ...kept, error: errorJson(outcome.error), ...warnings };
  }
  return { path, output: outcome.output, format, status, ...detailsJson(outcome), ...warnings };
}

function detailsJson(outcome: Exclude<FileOutcome, { readonly status: 'failed' }>) {
  switch (outcome.status) {
    case 'signed':
    case 'unchanged': {
      const { algorithm, record, reported, reused, timestamp, timestampAuthority, bytes, sha256, milliseconds } =
        outcome;
      const signed = { algorithm, record, reported, reused, timestamp, bytes, sha256, milliseconds };
      const authority = timestampAuthority === null ? {} : { timestampAuthority };
      return { ...signed, ...authority, ...replacedJson(outcome.replaced), ...innerJson(outcome.inner) };
    }
    case 'planned': {
      const { algorithm, digest, bytes } = outcome;
      return { algorithm, digest, bytes, ...replacedJson(outcome.replaced), ...innerJson(outcome.inner) };
    }
    case 'skipped':
      // Where there is one reason only, scripts do not need it.
      return outcome.reason === 'already-signed' ? {} : { reason: outcome.reason };
    case 'timestamped': {
      const { timestamp, authority, signatures, bytes, sha256, milliseconds } = outcome;
      return { timestamp, timestampAuthority: authority, signatures, bytes, sha256, milliseconds };
    }
    case 'removed': {
      const { signatures, removed, bytes, sha256, milliseconds } = outcome;
      return { signatures, removed, bytes, sha256, milliseconds };
    }
    case 'attached': {
      const { signer, replaced, bytes, sha256, milliseconds } = outcome;
      return { signer, ...replacedJson(replaced), bytes, sha256, milliseconds };
    }
  }
}

function innerJson(inner: readonly object[] | undefined) {
  return inner === undefined ? {} : { inner };
}

function replacedJson(replaced: readonly string[]) {
  return replaced.length > 0 ? { replaced } : {};
}
