/** What people read: results on standard output, everything else on standard error. Nothing from outside is printed raw. */

import type { CodesignError } from '../errors/codesign-error.ts';
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

export interface ConsoleOptions {
  /** Errors only. */
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Standard output belongs to the JSON document. */
  readonly json: boolean;
}

/** Longer than any path a system allows: what is printed of one. */
const PATH_LENGTH = 4096;

export class Console {
  readonly #io: Io;
  readonly #options: ConsoleOptions;
  /** Told last, behind the failure that is their reason. */
  readonly #notAttempted: FailedOutcome[] = [];

  constructor(io: Io, options: ConsoleOptions) {
    this.#io = io;
    this.#options = options;
  }

  event(event: SigningEvent): void {
    switch (event.type) {
      case 'file-started':
        if (this.#options.verbose) this.#tell(`signing  ${shownPath(event.path)}`);
        break;
      case 'file-finished':
        this.#outcome(event.outcome);
        break;
      case 'file-left-out':
        this.warning(`${shownPath(event.path)}: left out: ${oneLine(event.error)}`);
        break;
      case 'temporary-file-left':
        this.warning(`${shownPath(event.path)}: this temporary file could not be removed: ${oneLine(event.error)}`);
        break;
      case 'report-failed':
        this.warning(
          `${shownPath(event.path)}: the report for record ${printable(event.record)} did not arrive: ${oneLine(event.error)}`,
        );
        break;
    }
  }

  warning(text: string): void {
    if (!this.#options.quiet) this.#tell(`warning  ${printable(text, PATH_LENGTH)}`);
  }

  /** An error that concerns the whole run. */
  error(error: CodesignError): void {
    this.#tell(`error    ${oneLine(error)}`);
    this.#explain(error);
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
      this.#result(`dry run: this run would ask for ${counted(planned, 'signature')}; nothing was sent or written`);
    } else if (files.length > 1 || summary.failed > 0) {
      this.#result(parts.join(', '));
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
        this.#result(`skipped  ${shownPath(outcome.path)}  already signed with this certificate`);
        break;
      case 'failed':
        if (outcome.error.code === 'not-attempted') this.#notAttempted.push(outcome);
        else this.#failed(outcome);
        break;
    }
  }

  #signed({ path, output, algorithm, record, replaced, timestamp, milliseconds }: SignedOutcome): void {
    const details = [
      algorithm,
      ...(record === null ? [] : [`record ${printable(record)}`]),
      ...(timestamp === null ? [] : [`timestamp ${timestamp}`]),
      `${milliseconds} ms`,
    ];
    const to = output === path ? '' : ` -> ${shownPath(output)}`;
    this.#result(`signed   ${shownPath(path)}${to}  (${details.join(', ')})`);
    this.#tellReplaced(replaced, 'replaced');
  }

  #planned({ path, output, algorithm, digest, replaced }: PlannedOutcome): void {
    const to = output === path ? '' : ` -> ${shownPath(output)}`;
    this.#result(`planned  ${shownPath(path)}${to}  would send the ${algorithm} digest ${digest}`);
    this.#tellReplaced(replaced, 'would replace');
  }

  #failed({ path, error, record }: FailedOutcome): void {
    this.#tell(`failed   ${shownPath(path)}: ${oneLine(error)}`);
    this.#explain(error);
    if (record !== null) this.#tell(`         a signature had been given already: record ${printable(record)}`);
  }

  #tellReplaced(signers: readonly string[], word: string): void {
    for (const signer of signers) this.#result(`         ${word} the signature of "${printable(signer)}"`);
  }

  #explain(error: CodesignError): void {
    // The files that were not attempted have one reason, and its hint stands already where it failed.
    if (error.hint !== undefined && error.code !== 'not-attempted')
      this.#tell(`         hint: ${printable(error.hint, PATH_LENGTH)}`);
    if (!this.#options.verbose) return;
    for (
      let cause: unknown = error.category === 'internal' ? error : error.cause;
      cause instanceof Error;
      cause = cause.cause
    ) {
      for (const line of (cause.stack ?? cause.message).split('\n'))
        this.#tell(`         ${printable(line, PATH_LENGTH)}`);
    }
  }

  #result(line: string): void {
    if (this.#options.quiet) return;
    // With --json standard output belongs to the document.
    const stream = this.#options.json ? this.#io.stderr : this.#io.stdout;
    stream.write(`${line}\n`);
  }

  #tell(line: string): void {
    this.#io.stderr.write(`${line}\n`);
  }
}

function oneLine(error: CodesignError): string {
  return `${printable(error.message, PATH_LENGTH)} [${error.code}]`;
}

function shownPath(path: string): string {
  return printable(path, PATH_LENGTH);
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
