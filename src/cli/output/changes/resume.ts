import type { CodesignError } from '../../../errors/codesign-error.ts';
import { printable } from '../../../errors/printable.ts';
import type { UnfinishedCall } from '../../../journal/journal.ts';
import type { SigningEvent } from '../../../signing/outcome.ts';
import { isUnusable } from '../../../signing/resume/resume.ts';
import { describeResumed, type ResumedCall } from '../../../signing/resume/resumed-call.ts';
import type { Io } from '../../io.ts';
import { errorJson } from '../json.ts';
import { INDENT, Lines, type LinesOptions, oneLine, shown } from '../lines.ts';
import { changeConsole } from './change-console.ts';

export function resumeConsole(io: Io, options: LinesOptions) {
  const lines = new Lines(io, options);
  // Each failed file is printed together with its calls to the service.
  const files = changeConsole(io, options, 'signed', undefined, ({ status }) => status !== 'failed');
  const explained = new Set<string>();

  function printCall({ call, status, error }: ResumedCall): void {
    const path = shown(pathOf(call));
    switch (status) {
      case 'finished':
        if (call.kind === 'unreported') lines.result(`reported ${path}${recordOf(call)}`);
        break;
      case 'forgotten':
        lines.result(`forgot   ${path}  (call ${call.id})`);
        break;
      case 'failed':
        if (error !== undefined) lines.failed(pathOf(call), error, { own: [`${INDENT}${about(call)}`] });
        break;
      case 'left':
        lines.result(`left     ${path}  ${isUnusable(call) ? UNUSABLE : STATES[call.kind]}`);
        if (error !== undefined) printObstacle(error);
        if (call.reason !== undefined) lines.result(`${INDENT}${printable(call.reason)}`);
        lines.result(`${INDENT}${about(call)}`);
        break;
    }
  }

  function printObstacle(error: CodesignError): void {
    const text = oneLine(error);
    lines.result(`${INDENT}${text}`);
    if (!explained.has(text)) lines.explain(error);
    explained.add(text);
  }

  return {
    ...files,
    event(event: SigningEvent): void {
      if (event.type !== 'report-failed') files.event(event);
    },
    /** The text `none` is printed if the list is empty. */
    calls(calls: readonly ResumedCall[], none: string): void {
      files[Symbol.dispose]();
      for (const resumed of calls) printCall(resumed);
      lines.printOthers();
      const counts = Object.entries(summarise(calls)).filter(([, count]) => count > 0);
      lines.result(counts.map(([status, count]) => `${count} ${status}`).join(', ') || none);
    },
  };
}

const STATES: Readonly<Record<UnfinishedCall['kind'], string>> = {
  'under-way': 'another process is working on it',
  unwritten: 'has a signature, but is not written yet',
  unreported: 'is signed, but not reported to the service',
  surplus: 'has a signature that arrived late and was not needed; it is not reported to the service',
  unknown: 'was requested and may have been counted; its result is unknown. resume --forget removes it',
};

const UNUSABLE =
  'has a signature that does not match its certificate: sign with the right certificate, or run resume --forget';

function pathOf({ files, metadata }: UnfinishedCall): string {
  const file = files.find(({ written }) => !written);
  return file?.signingOptions.path ?? metadata.file;
}

function about(call: UnfinishedCall): string {
  return `call ${call.id}, requested ${call.at.slice(0, 19).replace('T', ' ')} UTC${recordOf(call)}`;
}

function recordOf({ record }: UnfinishedCall): string {
  return record === undefined ? '' : `, record ${printable(record)}`;
}

function summarise(calls: readonly ResumedCall[]): Readonly<Record<ResumedCall['status'], number>> {
  const summary = { finished: 0, forgotten: 0, left: 0, failed: 0 };
  for (const { status } of calls) summary[status] += 1;
  return summary;
}

/** Scripts read the members of this document, so their names must not change. */
export function resumedJson(calls: readonly ResumedCall[], warnings: readonly string[]) {
  const documents = calls
    .map(describeResumed)
    .map((call) => ({ ...call, ...(call.error && { error: errorJson(call.error) }) }));
  return { calls: documents, summary: summarise(calls), warnings };
}
