import { clock } from '../../../app/clock.ts';
import { counted } from '../../../errors/counted.ts';
import { printable } from '../../../errors/printable.ts';
import type { CallRecord } from '../../../service/call-record.ts';
import { mayHaveBeenCounted } from '../../../service/errors.ts';
import type { FileOutcome, SigningEvent } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import type { Io } from '../../io.ts';
import { writeJobSummary } from '../github.ts';
import { Lines, type LinesOptions, oneLine, shown, shownPaths } from '../lines.ts';
import { openProgress } from '../progress/progress.ts';
import {
  type ChangeVerb,
  changeDetails,
  isKept,
  lostSignatures,
  outcomeTable,
  plannedDigest,
  plannedRequests,
  skipReason,
  totalLine,
  WORDS,
} from './outcomes.ts';

type Failed = FileOutcome & { readonly status: 'failed' };

/**
 * Disposing removes the progress of the run from the terminal. `resumeCommand`: what to type to finish the run; undefined if
 * nothing can be resumed.
 */
export function changeConsole(io: Io, options: LinesOptions, verb: ChangeVerb, resumeCommand?: string) {
  const lines = new Lines(io, options);
  const progress = openProgress(io, options, { doing: WORDS[verb].doing, done: verb });
  const stopProgress = (): void => progress[Symbol.dispose]();
  const started = clock();
  let signatures = 0;
  const requested = new Set<string>();
  /** Paths of files whose request was sent and not answered yet. */
  const underWay = new Set<string>();
  /** How many signatures are not in the file yet, by its path. */
  const unwritten = new Map<string, number>();
  /** Printed at the end, after the failure that is their reason. */
  const notAttempted: Failed[] = [];
  /** Messages of failures. */
  const printed = new Set<string>();

  const warning = (text: string, path?: string): void => lines.warning(text, path);

  function printResume(): void {
    if (resumeCommand === undefined) return;
    lines.print(`         what the journal knows of it, and what to do: ${shown(resumeCommand)}`);
  }

  function printOutcome(outcome: FileOutcome): void {
    for (const text of outcome.warnings) warning(text, outcome.path);
    switch (outcome.status) {
      case 'failed':
        if (isNotAttempted(outcome)) notAttempted.push(outcome);
        else printFailed(outcome);
        break;
      case 'skipped':
        // In a folder there may be hundreds of them.
        if (isKept(outcome) && !lines.options.verbose) break;
        printResult(isKept(outcome) ? 'kept' : 'skipped', `${shown(outcome.path)}  ${skipReason(outcome)}`);
        break;
      case 'planned':
        printResult('planned', `${shownPaths(outcome)}  would send ${plannedDigest(outcome)}`);
        for (const { name, ...inner } of outcome.inner ?? []) {
          printResult('', `${printable(name)}, in it and before it: ${plannedDigest(inner)}`);
        }
        break;
      case 'unchanged':
        printResult('unchanged', `${shown(outcome.path)}  (already has this signature)`);
        break;
      default:
        printResult(outcome.status, `${shownPaths(outcome)}  (${changeDetails(outcome, lines.isBrief).join(', ')})`);
    }
    if (outcome.status === 'failed' || outcome.status === 'skipped') return;
    for (const line of lostSignatures(outcome)) printResult('', line);
  }

  function printNotAttempted(): void {
    const [first] = notAttempted;
    if (first === undefined) return;
    if (lines.options.verbose) for (const { path } of notAttempted) lines.print(`left     ${shown(path)}`);
    lines.print(`left     ${counted(notAttempted.length, 'file')}: ${oneLine(first.error)}`);
  }

  function printFailed(outcome: Failed): void {
    const { code, category, message } = outcome.error;
    // Files that were under way concurrently fail of the same: no connection, for example.
    const isRepeated = category !== 'local' && printed.has(message);
    printed.add(message);
    if (isRepeated) {
      lines.print(`failed   ${shown(outcome.path)}: the same error as above [${code}]`);
      lines.annotate(outcome.error, outcome.path);
    } else lines.failed(outcome.path, outcome.error);
    if (requested.has(outcome.path) && mayHaveBeenCounted(outcome.error)) printResume();
    if (outcome.record === null) return;
    const command = resumeCommand ?? 'codesign-remote resume';
    const use = outcome.kept ? `; it is kept: the next run, or ${shown(command)}, uses it and requests none` : '';
    lines.print(`         a signature was created already: record ${printable(outcome.record)}${use}`);
  }

  function printResult(word: string, text: string): void {
    lines.result(`${word.padEnd(WORDS[verb].pathColumn - 1)} ${text}`);
  }

  return {
    verb,
    /** `files`: their number. */
    expect: (files: number): void => progress.expect(files),
    event(event: SigningEvent): void {
      progress.event(event);
      switch (event.type) {
        case 'signature-requested':
          requested.add(event.path);
          underWay.add(event.path);
          break;
        case 'signature-given':
          signatures += 1;
          underWay.delete(event.path);
          unwritten.set(event.path, (unwritten.get(event.path) ?? 0) + 1);
          break;
        case 'service-called':
          if (lines.options.verbose) lines.print(callLine(event.call));
          break;
        case 'file-step':
          break;
        case 'option-unused':
          warning(oneLine(event.error));
          break;
        case 'file-finished':
          underWay.delete(event.outcome.path);
          unwritten.delete(event.outcome.path);
          printOutcome(event.outcome);
          break;
        case 'waiting':
          lines.progress(
            `waiting  ${shown(event.path)} waits for ${printable(event.whom)}, which asks for the same signature`,
          );
          break;
        case 'report-failed': {
          const record = printable(event.record);
          warning(`the report for record ${record} did not arrive: ${oneLine(event.error)}`, event.path);
          break;
        }
        default:
          lines.fileEvent(event, WORDS[verb].doing);
      }
    },
    /** `files`: all of the run. */
    summary(files: readonly FileOutcome[]): void {
      stopProgress();
      printNotAttempted();
      const total = totalLine(files, verb, { signatures, requested, milliseconds: clock() - started });
      const planned = new Set(files.flatMap(plannedRequests)).size;
      const kept = files.filter(isKept).length;
      if (planned > 0) {
        const asked = counted(planned, 'signature');
        const left = kept === 0 ? '' : `, ${kept} kept (signed by others)`;
        lines.result(`dry run: this run would ask for ${asked}${left}; nothing was sent or written`);
      } else if (files.length > 1 || kept > 0) {
        lines.result(total);
      }
      const fault = writeJobSummary(outcomeTable(files, verb, total), io.env);
      if (fault !== undefined) warning(fault);
    },
    /** The run is ended while files are under way. */
    abandoned(): void {
      stopProgress();
      if (verb !== 'signed') return;
      const [asked, unused] = [underWay.size, [...unwritten.values()].reduce((sum, count) => sum + count, 0)];
      if (asked > 0)
        lines.print(`ended    ${counted(asked, 'signature')} may have been counted: no answer had come yet`);
      if (unused > 0) lines.print(`ended    ${counted(unused, 'signature')} had been given and was not used yet`);
      if (asked + unused === 0) lines.print('ended    no request for a signature was under way');
      else printResume();
    },
    warning,
    [Symbol.dispose]: stopProgress,
  };
}

export type ChangeConsole = ReturnType<typeof changeConsole>;

/** The client's record of one call, for --verbose. */
function callLine(call: CallRecord): string {
  const { operation, file, attempt, origin, code, digest, record, status, httpStatus, serviceCode, result } = call;
  const answer = [
    httpStatus === undefined ? 'no answer' : `HTTP ${httpStatus}`,
    ...(serviceCode === undefined ? [] : [`code ${serviceCode}`]),
    ...(result === 'ok' ? [] : [result]),
  ];
  const details = [
    call.time,
    origin,
    ...(code === undefined ? [] : [`certificate ${code}`]),
    ...(digest === undefined ? [] : [`${digest.algorithm} digest ${digest.masked}, ${digest.length} bytes`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(record === undefined ? [] : [`record ${record}`]),
    `attempt ${attempt}`,
    `${call.milliseconds} ms`,
  ];
  const about = file === undefined ? operation : `${operation} ${file}`;
  return `called   ${printable(about)}: ${answer.join(', ')}  (${details.map((one) => printable(one)).join(', ')})`;
}
