import { printable } from '../../../errors/printable.ts';
import type { UnfinishedCall } from '../../../journal/journal.ts';
import type { SigningEvent } from '../../../signing/outcome.ts';
import { isUnusable } from '../../../signing/resume/resume.ts';
import { describeResumed, type ResumedCall } from '../../../signing/resume/resumed-call.ts';
import type { Io } from '../../io.ts';
import { errorJson, warningsJson } from '../json.ts';
import { Lines, type LinesOptions, shown } from '../lines.ts';
import { ChangeConsole } from './change-console.ts';

const INDENT = '         ';

/** Disposing removes the progress of the run from the terminal. */
export class ResumeConsole implements Disposable {
  readonly #lines: Lines;
  readonly #files: ChangeConsole;

  constructor(io: Io, options: LinesOptions) {
    this.#lines = new Lines(io, options);
    this.#files = new ChangeConsole(io, options, 'signed');
  }

  abandoned(): void {
    this.#files.abandoned();
  }

  [Symbol.dispose](): void {
    this.#files[Symbol.dispose]();
  }

  /** Files that fail are reported with their call. */
  event(event: SigningEvent): void {
    const isShown =
      event.type !== 'report-failed' && (event.type !== 'file-finished' || event.outcome.status === 'signed');
    if (isShown) this.#files.event(event);
  }

  warning(text: string): void {
    this.#lines.warning(text);
  }

  /** `none`: what to say if there are no calls. */
  calls(calls: readonly ResumedCall[], none: string): void {
    this.#files[Symbol.dispose]();
    for (const resumed of calls) this.#call(resumed);
    if (calls.length === 0) {
      this.#lines.result(none);
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
        this.#lines.print(`${INDENT}${about(call)}`);
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
  'under-way': 'another process is working on it',
  unwritten: 'has a signature, but is not written yet',
  unreported: 'is signed, but not reported to the service',
  unknown: 'was requested, may have been counted, and its result is unknown; resume --forget removes it',
};

const UNUSABLE = 'has a signature that does not fit its certificate: sign with the right one, or resume --forget';

/** Path of the first file that is not written yet. */
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

function summarise(calls: readonly ResumedCall[]): Readonly<Record<ResumedCall['status'], number>> {
  const summary = { finished: 0, forgotten: 0, left: 0, failed: 0 };
  for (const { status } of calls) summary[status] += 1;
  return summary;
}

/** Its members are fixed: scripts read them. */
export function resumedJson(calls: readonly ResumedCall[], warnings: readonly string[]) {
  const documents = calls.map(describeResumed).map((call) => ({
    ...call,
    ...(call.error === undefined ? {} : { error: errorJson(call.error) }),
  }));
  return { calls: documents, summary: summarise(calls), ...warningsJson(warnings) };
}
