/** What people read of `resume`. */

import { printable } from '../../../errors/printable.ts';
import type { UnfinishedCall } from '../../../journal/journal.ts';
import type { SigningEvent } from '../../../signing/outcome.ts';
import { isUnusable } from '../../../signing/resume/plan-call.ts';
import type { ResumedCall } from '../../../signing/resume/resume.ts';
import type { Io } from '../../io.ts';
import { Lines, type LinesOptions, shown } from '../lines.ts';
import { Console } from './console.ts';
import { summarise } from './resume-json.ts';

const INDENT = '         ';

/** Disposing takes away what shows the run's progress. */
export class ResumeConsole implements Disposable {
  readonly #lines: Lines;
  readonly #files: Console;

  constructor(io: Io, options: LinesOptions) {
    this.#lines = new Lines(io, options);
    this.#files = new Console(io, options);
  }

  stopProgress(): void {
    this.#files.stopProgress();
  }

  [Symbol.dispose](): void {
    this.stopProgress();
  }

  /** Files that fail are told of with their call. */
  event(event: SigningEvent): void {
    const isTold =
      event.type !== 'report-failed' && (event.type !== 'file-finished' || event.outcome.status === 'signed');
    if (isTold) this.#files.event(event);
  }

  warning(text: string): void {
    this.#lines.warning(text);
  }

  calls(calls: readonly ResumedCall[]): void {
    this.stopProgress();
    for (const resumed of calls) this.#call(resumed);
    if (calls.length === 0) {
      this.#lines.result('nothing is unfinished');
      return;
    }
    const counts = Object.entries(summarise(calls)).filter(([, count]) => count > 0);
    this.#lines.result(counts.map(([status, count]) => `${count} ${status}`).join(', '));
  }

  #call({ call, status, error }: ResumedCall): void {
    const path = shown(pathOf(call));
    switch (status) {
      case 'finished':
        if (call.kind === 'unreported') this.#lines.result(`reported ${path}${recordOf(call)}`);
        break;
      case 'forgotten':
        this.#lines.result(`forgot   ${path}  (call ${call.id})`);
        break;
      case 'failed':
        if (error !== undefined) this.#lines.failed(pathOf(call), error);
        this.#lines.tell(`${INDENT}${about(call)}`);
        break;
      case 'left':
        this.#lines.result(`left     ${path}  ${isUnusable(call) ? UNUSABLE : STATES[call.kind]}`);
        if (error !== undefined) this.#lines.result(`${INDENT}${printable(error.message)} [${error.code}]`);
        if (error !== undefined) this.#lines.explain(error);
        if (call.reason !== undefined) this.#lines.result(`${INDENT}${printable(call.reason)}`);
        this.#lines.result(`${INDENT}${about(call)}`);
        break;
    }
  }
}

const STATES: Readonly<Record<UnfinishedCall['kind'], string>> = {
  'under-way': 'a process that is running is at it',
  unwritten: 'has a signature, and is not written yet',
  unreported: 'is signed; the service has not been told',
  unknown: 'was asked for, and may have been counted: nobody knows how it ended; resume --forget settles it',
};

const UNUSABLE = 'has a signature that does not fit its certificate: sign with the right one, or resume --forget';

/** Of the first file that is still to be written. */
function pathOf({ files, metadata }: UnfinishedCall): string {
  const file = files.find(({ written }) => !written);
  return file?.signingOptions?.path ?? file?.file ?? metadata.file;
}

function about(call: UnfinishedCall): string {
  return `call ${call.id}, asked ${call.at.slice(0, 19).replace('T', ' ')} UTC${recordOf(call)}`;
}

function recordOf({ record }: UnfinishedCall): string {
  return record === undefined ? '' : `, record ${printable(record)}`;
}
