/** How `sign`, `timestamp`, `remove` and `attach` describe the outcome of a file, and of a run, to people. */

import { plural } from '../../../errors/plural.ts';
import { printable } from '../../../errors/printable.ts';
import { mayHaveBeenCounted } from '../../../service/errors.ts';
import type { FileOutcome, PlannedOutcome, SkipReason } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import type { SummaryTable } from '../github.ts';

/** The status of a file that a command changed, and its member of the summary in JSON. */
export type ChangeVerb = Exclude<Changed['status'], 'unchanged'>;

interface Words {
  /** What the command does to a file. */
  readonly doing: string;
  readonly heading: string;
  /** Column in which paths begin. */
  readonly pathColumn: number;
}

export const WORDS: Readonly<Record<ChangeVerb, Words>> = {
  signed: { doing: 'signing', heading: 'Signed files', pathColumn: 9 },
  timestamped: { doing: 'timestamping', heading: 'Timestamped files', pathColumn: 13 },
  removed: { doing: 'removing signatures from', heading: 'Files without their signatures', pathColumn: 13 },
  attached: { doing: 'attaching to', heading: 'Files with a signature attached', pathColumn: 13 },
};

const SKIPPED: Readonly<Record<SkipReason, string>> = {
  'already-signed': 'already signed',
  'signed-by-others': 'signed by others',
  'already-timestamped': 'already has a timestamp',
  'not-signed': 'holds no signature',
};

export function skipReason(outcome: FileOutcome & { readonly status: 'skipped' }): string {
  return SKIPPED[outcome.reason];
}

/** Whether the file stays as it is because another publisher signed it. */
export function isKept(outcome: FileOutcome): boolean {
  return outcome.status === 'skipped' && outcome.reason === 'signed-by-others';
}

type Changed = Exclude<FileOutcome, { readonly status: 'skipped' | 'failed' | 'planned' }>;

/** What was done to a file, in short parts. `isBrief`: without the record at the service. */
export function changeDetails(outcome: Changed, isBrief = false): readonly string[] {
  return [...partsOf(outcome, isBrief), `${outcome.milliseconds} ms`];
}

function partsOf(outcome: Changed, isBrief: boolean): readonly string[] {
  switch (outcome.status) {
    case 'signed':
    case 'unchanged': {
      const { algorithm, record, reused, timestamp, inner } = outcome;
      return [
        algorithm,
        ...(record === null || isBrief ? [] : [`record ${printable(record)}`]),
        ...(reused ? ['signature of an earlier call'] : []),
        ...(timestamp === null ? [] : [`timestamp ${timestamp}`]),
        ...(inner === undefined ? [] : [`with ${plural(inner.length, 'signed file')} in it`]),
      ];
    }
    case 'timestamped': {
      const { timestamp, authority, signatures } = outcome;
      return [timestamp, printable(authority), ...(signatures > 1 ? [plural(signatures, 'signature')] : [])];
    }
    case 'removed':
      // For example a certificate table that held something else.
      return [outcome.signatures === 0 ? 'what was no signature' : plural(outcome.signatures, 'signature')];
    case 'attached':
      return [`signature of "${printable(outcome.signer)}"`];
  }
}

/** What a dry run says of a digest. */
export function plannedDigest({ algorithm, digest }: Pick<PlannedOutcome, 'algorithm' | 'digest'>): string {
  if (digest !== null) return `the ${algorithm} digest ${digest}`;
  return `a ${algorithm} digest that depends on the signatures in it`;
}

/** What tells the requests of a dry run apart: files of equal content share a signature. */
export function plannedRequests(outcome: FileOutcome): readonly string[] {
  if (outcome.status !== 'planned') return [];
  const inner = (outcome.inner ?? []).map(({ digest }) => digest);
  return [...inner, outcome.digest ?? inner.join()];
}

/** Signers whose signatures the change took out of the file, each in words. */
export function lostSignatures(outcome: Exclude<FileOutcome, { readonly status: 'skipped' | 'failed' }>): string[] {
  const of = (word: string, signers: readonly string[]): string[] =>
    signers.map((signer) => `${word} the signature of "${printable(signer)}"`);
  switch (outcome.status) {
    case 'removed':
      return of('removed', outcome.removed);
    case 'timestamped':
      return [];
    default:
      return of(outcome.status === 'planned' ? 'would replace' : 'replaced', outcome.replaced);
  }
}

/** Known only from the events of a run. */
export interface RunFigures {
  /** Signatures that the service gave in this run; they count. */
  readonly signatures: number;
  /** Paths of the files for which a signature may have been requested. */
  readonly requested: ReadonlySet<string>;
  readonly milliseconds: number;
}

/** `20 files: 18 signed (2 with a signature that was there already), 1 skipped, 1 failed; 16 signatures used; 12.3 s` */
export function totalLine(files: readonly FileOutcome[], verb: ChangeVerb, figures: RunFigures): string {
  const count = (status: FileOutcome['status']): number => files.filter((file) => file.status === status).length;
  const [kept, notTried] = [files.filter(isKept).length, files.filter(isNotAttempted).length];
  const ways = [
    ['unchanged', count('unchanged')],
    ['planned', count('planned')],
    ['kept (signed by others)', kept],
    ['skipped', count('skipped') - kept],
    ['failed', count('failed') - notTried],
    ['not tried', notTried],
  ].flatMap(([way, number]) => (number === 0 ? [] : [`${number} ${way}`]));
  const isPlan = count('planned') > 0;
  if (count(verb) > 0 || !isPlan) ways.unshift(`${count(verb)} ${verb}${reusedInWords(files)}`);
  return [
    `${plural(files.length, 'file')}: ${ways.join(', ')}`,
    ...(verb === 'signed' && !isPlan ? [usedSignatures(files, figures)] : []),
    `${(figures.milliseconds / 1000).toFixed(1)} s`,
  ].join('; ');
}

function reusedInWords(files: readonly FileOutcome[]): string {
  const reused = files.filter((file) => file.status === 'signed' && file.reused).length;
  return reused === 0 ? '' : ` (${reused} with a signature that was there already)`;
}

function usedSignatures(files: readonly FileOutcome[], { signatures, requested }: RunFigures): string {
  const isUncertain = (file: FileOutcome): boolean =>
    file.status === 'failed' && requested.has(file.path) && mayHaveBeenCounted(file.error);
  const uncertain = files.filter(isUncertain).length;
  return `${plural(signatures, 'signature')} used${uncertain > 0 ? `, perhaps ${uncertain} more` : ''}`;
}

/** For the page of a job of GitHub Actions. */
export function outcomeTable(files: readonly FileOutcome[], verb: ChangeVerb, total: string): SummaryTable {
  const isSign = verb === 'signed';
  const columns = isSign ? ['Algorithm', 'Record', 'Timestamp', 'Signature', 'Reported'] : ['Details'];
  const rows = files.map((outcome) => (isSign ? signRow(outcome) : changeRow(outcome)));
  return { heading: WORDS[verb].heading, columns: ['File', 'Outcome', ...columns], rows, total };
}

function signRow(outcome: FileOutcome): string[] {
  const { path, status } = outcome;
  switch (status) {
    case 'signed':
    case 'unchanged': {
      const { algorithm, record, timestamp, reused, reported } = outcome;
      const signature = reused ? 'was there already' : 'new';
      return [path, status, algorithm, record ?? '', timestamp ?? 'none', signature, reported ? 'yes' : 'no'];
    }
    case 'failed': {
      const { record, kept } = outcome;
      return [
        path,
        `${isNotAttempted(outcome) ? '' : 'failed: '}${reasonOf(outcome)}`,
        '',
        record ?? '',
        '',
        kept ? 'kept for the next run' : '',
        '',
      ];
    }
    case 'planned':
      return [path, status, outcome.algorithm, '', '', '', ''];
    default:
      return [path, isKept(outcome) ? 'kept: signed by others' : 'skipped: already signed', '', '', '', '', ''];
  }
}

function changeRow(outcome: FileOutcome): string[] {
  const { path, status } = outcome;
  switch (status) {
    case 'skipped':
      return [path, status, skipReason(outcome)];
    case 'failed':
      return [path, isNotAttempted(outcome) ? 'not tried' : status, reasonOf(outcome)];
    case 'planned':
      return [path, status, outcome.algorithm];
    default:
      return [path, status, changeDetails(outcome).join(', ')];
  }
}

function reasonOf({ error }: FileOutcome & { readonly status: 'failed' }): string {
  return `${error.message} [${error.code}]`;
}
