/** What people read of `sign`. */

import { printable } from '../errors/printable.ts';
import type {
  FailedOutcome,
  FileOutcome,
  PlannedOutcome,
  SignedOutcome,
  SignFilesResult,
  SigningEvent,
} from '../signing/outcome.ts';
import type { Io } from './io.ts';
import { counted, Lines, type LinesOptions, oneLine, shownPath, shownPaths } from './lines.ts';

export class Console {
  readonly #lines: Lines;
  /** Told last, behind the failure that is their reason. */
  readonly #notAttempted: FailedOutcome[] = [];

  constructor(io: Io, options: LinesOptions) {
    this.#lines = new Lines(io, options);
  }

  event(event: SigningEvent): void {
    switch (event.type) {
      case 'file-finished':
        this.#outcome(event.outcome);
        break;
      case 'report-failed':
        this.warning(
          `${shownPath(event.path)}: the report for record ${printable(event.record)} did not arrive: ${oneLine(event.error)}`,
        );
        break;
      default:
        this.#lines.fileEvent(event, 'signing');
    }
  }

  warning(text: string): void {
    this.#lines.warning(text);
  }

  summary({ summary, files }: SignFilesResult): void {
    for (const outcome of this.#notAttempted) this.#failed(outcome);
    const planned = files.filter((file) => file.status === 'planned').length;
    const parts = [
      `${summary.signed} signed`,
      ...(summary.skipped > 0 ? [`${summary.skipped} skipped`] : []),
      ...(summary.failed > 0 ? [`${summary.failed} failed`] : []),
    ];
    if (planned > 0) {
      this.#lines.result(
        `dry run: this run would ask for ${counted(planned, 'signature')}; nothing was sent or written`,
      );
    } else if (files.length > 1 || summary.failed > 0) {
      this.#lines.result(parts.join(', '));
    }
  }

  #outcome(outcome: FileOutcome): void {
    for (const warning of outcome.warnings) this.warning(`${shownPath(outcome.path)}: ${warning}`);
    switch (outcome.status) {
      case 'signed':
        this.#signed(outcome);
        break;
      case 'planned':
        this.#planned(outcome);
        break;
      case 'skipped':
        this.#lines.result(`skipped  ${shownPath(outcome.path)}  already signed with this certificate`);
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
    const use = kept ? '; it is kept: the next run uses it, and asks for none' : '';
    this.#lines.tell(`         a signature had been given already: record ${printable(record)}${use}`);
  }

  #tellReplaced(signers: readonly string[], word: string): void {
    for (const signer of signers) this.#lines.result(`         ${word} the signature of "${printable(signer)}"`);
  }
}
