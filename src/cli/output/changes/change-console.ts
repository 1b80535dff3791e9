/** What people read of `timestamp`, `remove` and `attach`. */

import { clock } from '../../../app/clock.ts';
import { printable } from '../../../errors/printable.ts';
import type {
  ChangedOutcome,
  ChangeEvent,
  ChangeFilesResult,
  ChangeOutcome,
  NotChangedOutcome,
  SkipReason,
} from '../../../signing/change-outcome.ts';
import type { Io } from '../../io.ts';
import { type SummaryTable, writeJobSummary } from '../github.ts';
import { counted, Lines, type LinesOptions, shown, shownPaths } from '../lines.ts';
import { openProgress, type Progress } from '../progress/progress.ts';
import { type ChangeSummary, summarise } from './change-json.ts';
import { seconds } from './sign-summary.ts';

/** As they are told in words and counted in the document. */
export type ChangeVerb = 'timestamped' | 'removed' | 'attached';

const DOING: Readonly<Record<ChangeVerb, string>> = {
  timestamped: 'timestamping',
  removed: 'removing signatures from',
  attached: 'attaching to',
};
const HEADINGS: Readonly<Record<ChangeVerb, string>> = {
  timestamped: 'Timestamped files',
  removed: 'Files without their signatures',
  attached: 'Files with a signature attached',
};
const SKIPPED: Readonly<Record<SkipReason, string>> = {
  'already-timestamped': 'already has a timestamp',
  'not-signed': 'holds no signature',
};
/** Column in which paths begin. */
const WORD_WIDTH = 11;

/** Disposing takes away what shows the run's progress. */
export class ChangeConsole implements Disposable {
  readonly #io: Io;
  readonly #lines: Lines;
  readonly #progress: Progress;
  readonly #started = clock();
  readonly #verb: ChangeVerb;
  /** Told last, behind the failure that is their reason. */
  readonly #notAttempted: NotChangedOutcome[] = [];

  constructor(io: Io, options: LinesOptions, verb: ChangeVerb) {
    this.#io = io;
    this.#lines = new Lines(io, options);
    this.#progress = openProgress(io, options, { doing: DOING[verb], done: verb });
    this.#verb = verb;
  }

  /** How many files there are. */
  expect(files: number): void {
    this.#progress.expect(files);
  }

  stopProgress(): void {
    this.#progress[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.stopProgress();
  }

  event(event: ChangeEvent): void {
    this.#progress.hear(event);
    if (event.type === 'file-finished') this.#outcome(event.outcome);
    else this.#lines.fileEvent(event, DOING[this.#verb]);
  }

  warning(text: string): void {
    this.#lines.warning(text);
  }

  summary({ files, warnings }: ChangeFilesResult): void {
    this.stopProgress();
    for (const { path, error } of this.#notAttempted) this.#lines.failed(path, error);
    for (const warning of warnings) this.warning(warning);
    const summary = inWords(summarise(files, this.#verb), this.#verb);
    const total = `${counted(files.length, 'file')}: ${summary}; ${seconds(clock() - this.#started)}`;
    if (files.length > 1) this.#lines.result(total);
    const fault = writeJobSummary(tableOf(files, total, this.#verb), this.#io.env);
    if (fault !== undefined) this.warning(fault);
  }

  #outcome(outcome: ChangeOutcome): void {
    for (const warning of outcome.warnings) this.#lines.warning(warning, outcome.path);
    switch (outcome.status) {
      case 'skipped':
        this.#result('skipped', `${shown(outcome.path)}  ${SKIPPED[outcome.reason]}`);
        break;
      case 'failed':
        if (outcome.error.code === 'not-attempted') this.#notAttempted.push(outcome);
        else this.#lines.failed(outcome.path, outcome.error);
        break;
      default:
        this.#changed(outcome);
    }
  }

  #changed(outcome: ChangedOutcome): void {
    this.#result(outcome.status, `${shownPaths(outcome)}  (${details(outcome).join(', ')})`);
    if (outcome.status === 'removed') this.#tellSigners('removed', outcome.removed);
    if (outcome.status === 'attached') this.#tellSigners('replaced', outcome.replaced);
  }

  #tellSigners(word: string, signers: readonly string[]): void {
    for (const signer of signers) this.#result('', `${word} the signature of "${printable(signer)}"`);
  }

  #result(word: string, rest: string): void {
    this.#lines.result(`${word.padEnd(WORD_WIDTH)}  ${rest}`);
  }
}

function details(outcome: ChangedOutcome): readonly string[] {
  const took = `${outcome.milliseconds} ms`;
  switch (outcome.status) {
    case 'timestamped': {
      const several = outcome.signatures > 1 ? [counted(outcome.signatures, 'signature')] : [];
      return [outcome.timestamp, printable(outcome.authority), ...several, took];
    }
    case 'removed':
      // A table that held something else, say.
      return [outcome.signatures === 0 ? 'what was no signature' : counted(outcome.signatures, 'signature'), took];
    case 'attached':
      return [`signature of "${printable(outcome.signer)}"`, took];
  }
}

function tableOf(files: readonly ChangeOutcome[], total: string, verb: ChangeVerb): SummaryTable {
  return { heading: HEADINGS[verb], columns: ['File', 'Outcome', 'Details'], rows: files.map(rowOf), total };
}

function rowOf(outcome: ChangeOutcome): string[] {
  const { path, status } = outcome;
  switch (status) {
    case 'skipped':
      return [path, status, SKIPPED[outcome.reason]];
    case 'failed':
      return [path, status, `${outcome.error.message} [${outcome.error.code}]`];
    default:
      return [path, status, details(outcome).join(', ')];
  }
}

function inWords(summary: ChangeSummary, verb: ChangeVerb): string {
  return [
    `${summary[verb] ?? 0} ${verb}`,
    ...(summary.skipped > 0 ? [`${summary.skipped} skipped`] : []),
    ...(summary.failed > 0 ? [`${summary.failed} failed`] : []),
  ].join(', ');
}
