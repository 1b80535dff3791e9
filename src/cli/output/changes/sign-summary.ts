/** How a run of `sign` ended, in one line and as the table of a job. */

import { mayHaveBeenCounted } from '../../../service/errors.ts';
import type { FileOutcome, SignFilesResult } from '../../../signing/outcome.ts';
import type { SummaryTable } from '../github.ts';
import { counted } from '../lines.ts';

export interface RunFigures {
  /** Given by the service in this run: they count. */
  readonly signatures: number;
  /** Paths of the files for which the service may have been asked. */
  readonly asked: ReadonlySet<string>;
  readonly milliseconds: number;
}

/** `20 files: 18 signed (2 with a signature that was there already), 1 skipped, 1 failed; 16 signatures used; 12.3 s` */
export function signSummary(
  { files, summary }: SignFilesResult,
  { signatures, asked, milliseconds }: RunFigures,
): string {
  const reused = files.filter((file) => file.status === 'signed' && file.reused).length;
  const isUncertain = (file: FileOutcome): boolean =>
    file.status === 'failed' && asked.has(file.path) && mayHaveBeenCounted(file.error);
  const uncertain = files.filter(isUncertain).length;
  const ways = [
    ...(summary.signed > 0 || summary.planned === 0 ? [`${summary.signed} signed${reusedInWords(reused)}`] : []),
    ...(summary.planned > 0 ? [`${summary.planned} planned`] : []),
    ...(summary.skipped > 0 ? [`${summary.skipped} skipped`] : []),
    ...(summary.failed > 0 ? [`${summary.failed} failed`] : []),
  ];
  return [
    `${counted(files.length, 'file')}: ${ways.join(', ')}`,
    ...(summary.planned > 0
      ? []
      : [`${counted(signatures, 'signature')} used${uncertain > 0 ? `, perhaps ${uncertain} more` : ''}`]),
    seconds(milliseconds),
  ].join('; ');
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

export function signTable(result: SignFilesResult, figures: RunFigures): SummaryTable {
  return {
    heading: 'Signed files',
    columns: ['File', 'Outcome', 'Algorithm', 'Record', 'Timestamp', 'Signature', 'Reported'],
    rows: result.files.map(rowOf),
    total: signSummary(result, figures),
  };
}

function rowOf(outcome: FileOutcome): string[] {
  const { path, status } = outcome;
  switch (status) {
    case 'signed': {
      const { algorithm, record, timestamp, reused, reported } = outcome;
      const signature = reused ? 'was there already' : 'new';
      return [path, status, algorithm, record ?? '', timestamp ?? 'none', signature, reported ? 'yes' : 'no'];
    }
    case 'failed': {
      const { error, record, kept } = outcome;
      const signature = kept ? 'kept for the next run' : '';
      return [path, `failed: ${error.message} [${error.code}]`, '', record ?? '', '', signature, ''];
    }
    case 'planned':
      return [path, status, outcome.algorithm, '', '', '', ''];
    case 'skipped':
      return [path, 'skipped: already signed', '', '', '', '', ''];
  }
}

function reusedInWords(reused: number): string {
  return reused === 0 ? '' : ` (${reused} with a signature that was there already)`;
}
