import { clock } from '../../../app/clock.ts';
import { plural } from '../../../errors/plural.ts';
import { printable } from '../../../errors/printable.ts';
import type { CallRecord } from '../../../service/call-record.ts';
import { mayHaveBeenCounted } from '../../../service/errors.ts';
import type { FailedOutcome, FileOutcome, SigningEvent } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import type { Io } from '../../io.ts';
import { writeJobSummary } from '../github.ts';
import { INDENT, Lines, type LinesOptions, oneLine, shown } from '../lines.ts';
import { openProgress } from '../progress/progress.ts';
import { type ChangeVerb, DOING, rowOf, summaryTable, totalLine, wordOf } from './outcomes.ts';

type ReportFailed = SigningEvent & { readonly type: 'report-failed' };

/** `resumeCommand` finishes the run; undefined if nothing can be resumed. */
export function changeConsole(
  io: Io,
  options: LinesOptions,
  verb: ChangeVerb,
  resumeCommand?: string,
  isShown: (outcome: FileOutcome) => boolean = () => true,
) {
  const lines = new Lines(io, options);
  const progress = openProgress(io, options, { doing: DOING[verb], done: verb });
  const stopProgress = (): void => progress[Symbol.dispose]();
  const started = clock();
  let signatures = 0;
  const requested = new Set<string>();
  const warnings = new Set<string>();
  const underWay = new Set<string>();
  const unwritten = new Map<string, number>();
  const unreported = new Map<string, ReportFailed[]>();
  const failures = failedFiles(lines, verb, resumeCommand);
  const outcomes = inOrder(printOutcome);

  /** Prints a warning once, even if the result contains it again. */
  function warning(text: string): void {
    if (!warnings.has(text)) lines.warning(text);
    warnings.add(text);
  }

  function printOutcome(outcome: FileOutcome): void {
    if (!isShown(outcome)) return;
    const { path, status } = outcome;
    for (const text of outcome.warnings) lines.fileWarning(path, text);
    if (status === 'failed') {
      failures.add(outcome, requested.has(path) && mayHaveBeenCounted(outcome.error));
      return;
    }
    const word = wordOf(outcome);
    if (word === 'kept' && !lines.options.verbose) return;
    const { details, below = [] } = rowOf(outcome, lines.isBrief);
    const paths = outcome.output === path || status === 'skipped' ? path : `${path} -> ${outcome.output}`;
    printResult(word, `${shown(paths)}  (${details.join(', ')})`);
    for (const line of below) printResult('', line);
  }

  function printRest(paths: readonly string[]): void {
    outcomes.flush();
    for (const { path, record, error } of paths.flatMap((one) => unreported.get(one) ?? [])) {
      lines.fileWarning(path, `the report did not arrive: ${oneLine(error)}`, ` (record ${printable(record)})`);
    }
    unreported.clear();
    lines.printOthers();
    failures.printNotTried();
  }

  function printResult(word: string, text: string): void {
    lines.result(word.padEnd(Math.max(INDENT.length, verb.length + 2, word.length + 1)) + text);
  }

  return {
    verb,
    event(event: SigningEvent): void {
      const { type } = event;
      progress.event(
        type === 'file-finished' ? { type, path: event.outcome.path, word: wordOf(event.outcome) } : event,
      );
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
          lines.fileWarning(event.path, `left out: ${oneLine(event.error)}`);
          break;
        case 'file-finished':
          underWay.delete(event.outcome.path);
          unwritten.delete(event.outcome.path);
          outcomes.add(event.outcome);
          break;
        case 'waiting':
          lines.progress(
            `waiting  ${shown(event.path)} waits for ${printable(event.whom)}, which requests the same signature`,
          );
          break;
        case 'report-failed':
          unreported.set(event.path, [...(unreported.get(event.path) ?? []), event]);
          break;
        default:
          lines.fileEvent(event, DOING[verb]);
      }
    },
    summary(files: readonly FileOutcome[]): void {
      stopProgress();
      printRest(files.map(({ path }) => path));
      const total = totalLine(files, verb, { signatures, requested, milliseconds: clock() - started });
      // The total for a single file is printed only if the file was planned or kept.
      if (files.length > 1 || files.some((file) => ['planned', 'kept'].includes(wordOf(file)))) lines.result(total);
      const fault = writeJobSummary(summaryTable(files, total), io.env);
      if (fault !== undefined) lines.warning(fault);
    },
    abandoned(): void {
      stopProgress();
      printRest([...unreported.keys()]);
      if (verb !== 'signed') return;
      const [asked, unused] = [underWay.size, [...unwritten.values()].reduce((sum, count) => sum + count, 0)];
      if (asked > 0)
        lines.print(`ended    ${plural(asked, 'signature')} may have been counted: no response had arrived`);
      if (unused > 0) lines.print(`ended    ${plural(unused, 'signature')} had arrived, but was not used yet`);
      if (asked + unused === 0) lines.print('ended    no signature request was in progress');
      else failures.printResume();
    },
    warning,
    [Symbol.dispose](): void {
      stopProgress();
      printRest([...unreported.keys()]);
    },
  };
}

export type ChangeConsole = ReturnType<typeof changeConsole>;

/** Each outcome is printed after the outcomes of the files that precede it in the input. */
function inOrder(print: (outcome: FileOutcome) => void) {
  let paths: readonly string[] = [];
  let next = 0;
  const waiting = new Map<string, FileOutcome[]>();

  function take(path: string): FileOutcome | undefined {
    const outcomes = waiting.get(path) ?? [];
    const outcome = outcomes.shift();
    if (outcomes.length === 0) waiting.delete(path);
    return outcome;
  }

  function printNext(): boolean {
    const path = paths[next];
    const outcome = path === undefined ? undefined : take(path);
    if (outcome === undefined) return false;
    next += 1;
    print(outcome);
    return true;
  }

  function flush(): void {
    while (next < paths.length) if (!printNext()) next += 1;
    for (const outcome of [...waiting.values()].flat()) print(outcome);
    waiting.clear();
  }

  return {
    flush,
    expect(planned: readonly string[]): void {
      flush();
      [paths, next] = [planned, 0];
    },
    add(outcome: FileOutcome): void {
      waiting.set(outcome.path, [...(waiting.get(outcome.path) ?? []), outcome]);
      while (printNext());
    },
  };
}

function callLine(call: CallRecord): string {
  const { operation, file, attempt, origin, code, digest, record, status, httpStatus, serviceCode, result } = call;
  const answer = [
    httpStatus === undefined ? 'no response' : `HTTP ${httpStatus}`,
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

function failedFiles(lines: Lines, verb: ChangeVerb, resumeCommand: string | undefined) {
  let notTried: FailedOutcome[] = [];
  const resumeLines =
    resumeCommand === undefined ? [] : [`${INDENT}to see its state, and what to do: ${shown(resumeCommand)}`];

  function print(outcome: FailedOutcome, mayHaveBeenCounted: boolean): void {
    const { own, others } = signatureLines(outcome);
    const counted = mayHaveBeenCounted ? resumeLines : [];
    lines.failed(outcome.path, outcome.error, { own: [...counted, ...own], others: [...counted, ...others] });
  }

  function signatureLines({ record, kept }: FailedOutcome) {
    if (record === null) return { own: [], others: [] };
    const user = `the next run, or ${shown(resumeCommand ?? 'codesign-remote resume')}`;
    const [one, many] = kept
      ? [`; it is kept: ${user}, uses it and requests none`, `; they are kept: ${user}, uses them`]
      : ['', ''];
    return {
      own: [`${INDENT}a signature was created already: record ${printable(record)}${one}`],
      others: [`${INDENT}signatures were created already${many}`],
    };
  }

  return {
    /** Prints files that were not attempted at the end, after the failure that ended the run. */
    add(outcome: FailedOutcome, mayHaveBeenCounted: boolean): void {
      if (isNotAttempted(outcome)) notTried.push(outcome);
      else print(outcome, mayHaveBeenCounted);
    },
    printNotTried(): void {
      const [first] = notTried;
      if (first === undefined) return;
      if (lines.options.verbose) for (const { path } of notTried) lines.print(`left     ${shown(path)}`);
      const hint = `${INDENT}hint: ${nextStep(verb, resumeCommand !== undefined)}`;
      lines.print(`left     ${plural(notTried.length, 'file')}: ${oneLine(first.error)}`, [hint]);
      notTried = [];
    },
    printResume(): void {
      for (const line of resumeLines) lines.print(line);
    },
  };
}

function nextStep(verb: ChangeVerb, hasJournal: boolean): string {
  const again = 'Run the same command again';
  if (verb !== 'signed') return `${again}.`;
  if (hasJournal) return `${again}; signatures that were paid for are used.`;
  return `${again} with --skip-signed; without a journal, other files that are signed already would be paid for again.`;
}
