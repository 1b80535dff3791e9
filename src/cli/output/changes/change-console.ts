import { clock } from '../../../app/clock.ts';
import { plural } from '../../../errors/plural.ts';
import { printable } from '../../../errors/printable.ts';
import { mayHaveBeenCounted } from '../../../service/errors.ts';
import type { FileOutcome, SigningEvent } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import type { Io } from '../../io.ts';
import { groupEqual } from '../equal-lines.ts';
import { writeJobSummary } from '../github.ts';
import { Lines, type LinesOptions, oneLine, shown, shownPaths } from '../lines.ts';
import { openProgress, type ProgressEvent } from '../progress/progress.ts';
import { callLine } from './call-line.ts';
import { failedFiles } from './failed-files.ts';
import { inOrder } from './in-order.ts';
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

type ReportFailed = SigningEvent & { readonly type: 'report-failed' };

/**
 * Disposing prints the lines that still wait, and removes the progress of the run from the terminal. `resumeCommand`: what to
 * type to finish the run; undefined if nothing can be resumed.
 */
export function changeConsole(
  io: Io,
  options: LinesOptions,
  verb: ChangeVerb,
  resumeCommand?: string,
  isShown: (outcome: FileOutcome) => boolean = () => true,
) {
  const lines = new Lines(io, options);
  const progress = openProgress(io, options, { doing: WORDS[verb].doing, done: verb });
  const stopProgress = (): void => progress[Symbol.dispose]();
  const started = clock();
  let signatures = 0;
  const requested = new Set<string>();
  const warnings = new Set<string>();
  /** Paths of files whose request was sent and not answered yet. */
  const underWay = new Set<string>();
  /** How many signatures are not in the file yet, by its path. */
  const unwritten = new Map<string, number>();
  /** By the path of the file. */
  const unreported = new Map<string, ReportFailed[]>();
  const equal = groupEqual(lines);
  const failures = failedFiles(lines, equal, verb, resumeCommand);
  const outcomes = inOrder(printOutcome);

  function printWarning(path: string, text: string, about = ''): void {
    if (equal.isFirst({ word: 'warning', path, text: shown(text) })) lines.warning(text + about, path);
    else lines.warningAgain(text + about, path);
  }

  /** About the run, and printed once: the result has those that were printed when they arose. */
  function warning(text: string): void {
    if (!warnings.has(text)) lines.warning(text);
    warnings.add(text);
  }

  function printOutcome(outcome: FileOutcome): void {
    if (!isShown(outcome)) return;
    for (const text of outcome.warnings) printWarning(outcome.path, text);
    switch (outcome.status) {
      case 'failed':
        failures.add(outcome, requested.has(outcome.path) && mayHaveBeenCounted(outcome.error));
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

  /** What waited for the end. `paths`: in the order of the input. */
  function printRest(paths: readonly string[]): void {
    outcomes.flush();
    for (const { path, record, error } of paths.flatMap((one) => unreported.get(one) ?? [])) {
      printWarning(path, `the report did not arrive: ${oneLine(error)}`, ` (record ${printable(record)})`);
    }
    unreported.clear();
    equal.printOthers();
    failures.printNotTried();
  }

  function printResult(word: string, text: string): void {
    lines.result(`${word.padEnd(WORDS[verb].pathColumn - 1)} ${text}`);
  }

  return {
    verb,
    event(event: SigningEvent): void {
      progress.event(forProgress(event));
      switch (event.type) {
        case 'files-planned':
          outcomes.expect(event.paths);
          break;
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
        case 'file-left-out':
          printWarning(event.path, `left out: ${oneLine(event.error)}`);
          break;
        case 'file-finished':
          underWay.delete(event.outcome.path);
          unwritten.delete(event.outcome.path);
          outcomes.add(event.outcome);
          break;
        case 'waiting':
          lines.progress(
            `waiting  ${shown(event.path)} waits for ${printable(event.whom)}, which asks for the same signature`,
          );
          break;
        case 'report-failed':
          unreported.set(event.path, [...(unreported.get(event.path) ?? []), event]);
          break;
        default:
          lines.fileEvent(event, WORDS[verb].doing);
      }
    },
    /** `files`: all of the run. */
    summary(files: readonly FileOutcome[]): void {
      stopProgress();
      printRest(files.map(({ path }) => path));
      const total = totalLine(files, verb, { signatures, requested, milliseconds: clock() - started });
      const planned = new Set(files.flatMap(plannedRequests)).size;
      const kept = files.filter(isKept).length;
      if (planned > 0) {
        const asked = plural(planned, 'signature');
        const left = kept === 0 ? '' : `, ${kept} kept (signed by others)`;
        lines.result(`dry run: this run would ask for ${asked}${left}; nothing was sent or written`);
      } else if (files.length > 1 || kept > 0) {
        lines.result(total);
      }
      const fault = writeJobSummary(outcomeTable(files, verb, total), io.env);
      if (fault !== undefined) lines.warning(fault);
    },
    /** The run is ended while files are under way. */
    abandoned(): void {
      stopProgress();
      printRest([...unreported.keys()]);
      if (verb !== 'signed') return;
      const [asked, unused] = [underWay.size, [...unwritten.values()].reduce((sum, count) => sum + count, 0)];
      if (asked > 0)
        lines.print(`ended    ${plural(asked, 'signature')} may have been counted: no answer had come yet`);
      if (unused > 0) lines.print(`ended    ${plural(unused, 'signature')} had been given and was not used yet`);
      if (asked + unused === 0) lines.print('ended    no request for a signature was under way');
      else failures.printResume();
    },
    warning,
    [Symbol.dispose](): void {
      stopProgress();
      printRest([...unreported.keys()]);
    },
  };
}

function forProgress(event: SigningEvent): ProgressEvent {
  if (event.type !== 'file-finished' || !isNotAttempted(event.outcome)) return event;
  return { type: 'file-finished', outcome: { path: event.outcome.path, status: 'not tried' } };
}

export type ChangeConsole = ReturnType<typeof changeConsole>;
