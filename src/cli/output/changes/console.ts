/** What people read of `sign`. */

import { clock } from '../../../app/clock.ts';
import { printable } from '../../../errors/printable.ts';
import type {
  FailedOutcome,
  FileOutcome,
  PlannedOutcome,
  SignedOutcome,
  SignFilesResult,
  SigningEvent,
} from '../../../signing/outcome.ts';
import type { Io } from '../../io.ts';
import { writeJobSummary } from '../github.ts';
import { counted, Lines, type LinesOptions, oneLine, shown, shownPaths } from '../lines.ts';
import { openProgress, type Progress } from '../progress/progress.ts';
import { callLine } from './call-line.ts';
import { signSummary, signTable } from './sign-summary.ts';

/** Disposing takes away what shows the run's progress. */
export class Console implements Disposable {
  readonly #io: Io;
  readonly #lines: Lines;
  readonly #progress: Progress;
  readonly #started = clock();
  /** Given by the service in this run. */
  #signatures = 0;
  /** Paths of the files for which the service may have been asked. */
  readonly #asked = new Set<string>();
  /** Told last, behind the failure that is their reason. */
  readonly #notAttempted: FailedOutcome[] = [];

  constructor(io: Io, options: LinesOptions) {
    this.#io = io;
    this.#lines = new Lines(io, options);
    this.#progress = openProgress(io, options, { doing: 'signing', done: 'signed' });
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

  event(event: SigningEvent): void {
    this.#progress.hear(event);
    switch (event.type) {
      case 'signature-given':
        this.#signatures += 1;
        break;
      case 'file-step':
        if (event.step === 'asking-service') this.#asked.add(event.path);
        break;
      case 'bytes-read':
        break;
      case 'service-called':
        if (this.#lines.options.verbose) this.#lines.tell(callLine(event.call));
        break;
      case 'file-finished':
        this.#outcome(event.outcome);
        break;
      case 'waiting':
        this.#lines.progress(
          `waiting  ${shown(event.path)} waits for ${printable(event.whom)}, which asks for the same signature`,
        );
        break;
      case 'report-failed':
        this.warning(
          `the report for record ${printable(event.record)} did not arrive: ${oneLine(event.error)}`,
          event.path,
        );
        break;
      default:
        this.#lines.fileEvent(event, 'signing');
    }
  }

  warning(text: string, path?: string): void {
    this.#lines.warning(text, path);
  }

  summary(result: SignFilesResult): void {
    this.stopProgress();
    const { files } = result;
    for (const outcome of this.#notAttempted) this.#failed(outcome);
    const planned = files.filter((file) => file.status === 'planned').length;
    const figures = {
      signatures: this.#signatures,
      asked: this.#asked,
      milliseconds: clock() - this.#started,
    };
    if (planned > 0) {
      this.#lines.result(
        `dry run: this run would ask for ${counted(planned, 'signature')}; nothing was sent or written`,
      );
    } else if (files.length > 1) {
      this.#lines.result(signSummary(result, figures));
    }
    const fault = writeJobSummary(signTable(result, figures), this.#io.env);
    if (fault !== undefined) this.warning(fault);
  }

  #outcome(outcome: FileOutcome): void {
    for (const warning of outcome.warnings) this.warning(warning, outcome.path);
    switch (outcome.status) {
      case 'signed':
        this.#signed(outcome);
        break;
      case 'planned':
        this.#planned(outcome);
        break;
      case 'skipped':
        this.#lines.result(`skipped  ${shown(outcome.path)}  already signed with this certificate`);
        break;
      case 'failed':
        if (outcome.error.code === 'not-attempted') this.#notAttempted.push(outcome);
        else this.#failed(outcome);
        break;
    }
  }

  #signed({ path, output, algorithm, record, replaced, timestamp, reused, milliseconds }: SignedOutcome): void {
    const details = [
      algorithm,
      ...(record === null ? [] : [`record ${printable(record)}`]),
      ...(reused ? ['signature of an earlier call'] : []),
      ...(timestamp === null ? [] : [`timestamp ${timestamp}`]),
      `${milliseconds} ms`,
    ];
    this.#lines.result(`signed   ${shownPaths({ path, output })}  (${details.join(', ')})`);
    this.#tellReplaced(replaced, 'replaced');
  }

  #planned({ path, output, algorithm, digest, replaced }: PlannedOutcome): void {
    this.#lines.result(`planned  ${shownPaths({ path, output })}  would send the ${algorithm} digest ${digest}`);
    this.#tellReplaced(replaced, 'would replace');
  }

  #failed({ path, error, record, kept }: FailedOutcome): void {
    this.#lines.failed(path, error);
    if (record === null) return;
    const use = kept ? '; it is kept: the next run, or codesign-remote resume, uses it and asks for none' : '';
    this.#lines.tell(`         a signature had been given already: record ${printable(record)}${use}`);
  }

  #tellReplaced(signers: readonly string[], word: string): void {
    for (const signer of signers) this.#lines.result(`         ${word} the signature of "${printable(signer)}"`);
  }
}
