import { clock } from '../../../app/clock.ts';
import { counted } from '../../../errors/counted.ts';
import { printable } from '../../../errors/printable.ts';
import type { CallRecord } from '../../../service/call-record.ts';
import { mayHaveBeenCounted } from '../../../service/errors.ts';
import { isNotAttempted } from '../../../signing/batch.ts';
import type { ChangeEvent, SigningEvent } from '../../../signing/outcome.ts';
import type { Io } from '../../io.ts';
import { writeJobSummary } from '../github.ts';
import { Lines, type LinesOptions, oneLine, shown, shownPaths } from '../lines.ts';
import { openProgress, type Progress } from '../progress/progress.ts';
import {
  type ChangeVerb,
  changeDetails,
  lostSignatures,
  type Outcome,
  outcomeTable,
  skipReason,
  totalLine,
  WORDS,
} from './outcomes.ts';

type Failed = Outcome & { readonly status: 'failed' };

/** Disposing removes the progress of the run from the terminal. */
export class ChangeConsole implements Disposable {
  readonly #io: Io;
  readonly #verb: ChangeVerb;
  readonly #lines: Lines;
  readonly #progress: Progress;
  readonly #started = clock();
  #signatures = 0;
  readonly #requested = new Set<string>();
  /** Paths of files whose request was sent and not answered yet, and of those whose signature is not in the file yet. */
  readonly #underWay = new Set<string>();
  readonly #unwritten = new Set<string>();
  readonly #resumeCommand: string | undefined;
  /** Printed at the end, after the failure that is their reason. */
  readonly #notAttempted: Failed[] = [];
  /** Messages of failures. */
  readonly #printed = new Set<string>();

  /** `resumeCommand`: what to type to finish the run; undefined if nothing can be resumed. */
  constructor(io: Io, options: LinesOptions, verb: ChangeVerb, resumeCommand?: string) {
    this.#resumeCommand = resumeCommand;
    this.#io = io;
    this.#verb = verb;
    this.#lines = new Lines(io, options);
    this.#progress = openProgress(io, options, { doing: WORDS[verb].doing, done: verb });
  }

  /** `files`: their number. */
  expect(files: number): void {
    this.#progress.expect(files);
  }

  [Symbol.dispose](): void {
    this.#progress[Symbol.dispose]();
  }

  event(event: SigningEvent | ChangeEvent): void {
    this.#progress.event(event);
    switch (event.type) {
      case 'signature-requested':
        this.#requested.add(event.path);
        this.#underWay.add(event.path);
        break;
      case 'signature-given':
        this.#signatures += 1;
        this.#underWay.delete(event.path);
        this.#unwritten.add(event.path);
        break;
      case 'service-called':
        if (this.#lines.options.verbose) this.#lines.print(callLine(event.call));
        break;
      case 'file-step':
        break;
      case 'file-finished':
        this.#underWay.delete(event.outcome.path);
        this.#unwritten.delete(event.outcome.path);
        this.#outcome(event.outcome);
        break;
      case 'waiting':
        this.#lines.progress(
          `waiting  ${shown(event.path)} waits for ${printable(event.whom)}, which asks for the same signature`,
        );
        break;
      case 'report-failed': {
        const record = printable(event.record);
        this.warning(`the report for record ${record} did not arrive: ${oneLine(event.error)}`, event.path);
        break;
      }
      default:
        this.#lines.fileEvent(event, WORDS[this.#verb].doing);
    }
  }

  warning(text: string, path?: string): void {
    this.#lines.warning(text, path);
  }

  /** The run is ended while files are under way. */
  abandoned(): void {
    this[Symbol.dispose]();
    if (this.#verb !== 'signed') return;
    const [asked, unwritten] = [this.#underWay.size, this.#unwritten.size];
    if (asked > 0)
      this.#lines.print(`ended    ${counted(asked, 'signature')} may have been counted: no answer had come yet`);
    if (unwritten > 0)
      this.#lines.print(`ended    ${counted(unwritten, 'signature')} had been given and was not used yet`);
    if (asked + unwritten === 0) this.#lines.print('ended    no request for a signature was under way');
    else this.#printResume();
  }

  #printResume(): void {
    if (this.#resumeCommand === undefined) return;
    this.#lines.print(`         what the journal knows of it, and what to do: ${shown(this.#resumeCommand)}`);
  }

  /** `files`: all of the run. */
  summary(files: readonly Outcome[]): void {
    this[Symbol.dispose]();
    this.#printNotAttempted();
    const total = totalLine(files, this.#verb, {
      signatures: this.#signatures,
      requested: this.#requested,
      milliseconds: clock() - this.#started,
    });
    // Files of equal content share a signature.
    const planned = new Set(files.flatMap((file) => (file.status === 'planned' ? [file.digest] : []))).size;
    if (planned > 0) {
      const signatures = counted(planned, 'signature');
      this.#lines.result(`dry run: this run would ask for ${signatures}; nothing was sent or written`);
    } else if (files.length > 1) {
      this.#lines.result(total);
    }
    const fault = writeJobSummary(outcomeTable(files, this.#verb, total), this.#io.env);
    if (fault !== undefined) this.warning(fault);
  }

  #outcome(outcome: Outcome): void {
    for (const warning of outcome.warnings) this.warning(warning, outcome.path);
    switch (outcome.status) {
      case 'failed':
        if (isNotAttempted(outcome)) this.#notAttempted.push(outcome);
        else this.#failed(outcome);
        break;
      case 'skipped':
        this.#result('skipped', `${shown(outcome.path)}  ${skipReason(outcome)}`);
        break;
      case 'planned':
        this.#result('planned', `${shownPaths(outcome)}  would send the ${outcome.algorithm} digest ${outcome.digest}`);
        break;
      default:
        this.#result(
          outcome.status,
          `${shownPaths(outcome)}  (${changeDetails(outcome, this.#lines.isBrief).join(', ')})`,
        );
    }
    if (outcome.status === 'failed' || outcome.status === 'skipped') return;
    for (const line of lostSignatures(outcome)) this.#result('', line);
  }

  #printNotAttempted(): void {
    const [first] = this.#notAttempted;
    if (first === undefined) return;
    if (this.#lines.options.verbose)
      for (const { path } of this.#notAttempted) this.#lines.print(`left     ${shown(path)}`);
    this.#lines.print(`left     ${counted(this.#notAttempted.length, 'file')}: ${oneLine(first.error)}`);
  }

  #failed(outcome: Failed): void {
    const { code, category, message } = outcome.error;
    // Files that were under way concurrently fail of the same: no connection, for example.
    const isRepeated = category !== 'local' && this.#printed.has(message);
    this.#printed.add(message);
    if (isRepeated) this.#lines.print(`failed   ${shown(outcome.path)}: the same error as above [${code}]`);
    else this.#lines.failed(outcome.path, outcome.error);
    if (this.#requested.has(outcome.path) && mayHaveBeenCounted(outcome.error)) this.#printResume();
    if (outcome.record === null) return;
    const command = this.#resumeCommand ?? 'codesign-remote resume';
    const use = outcome.kept ? `; it is kept: the next run, or ${shown(command)}, uses it and requests none` : '';
    this.#lines.print(`         a signature was created already: record ${printable(outcome.record)}${use}`);
  }

  #result(word: string, text: string): void {
    this.#lines.result(`${word.padEnd(WORDS[this.#verb].pathColumn)}${text}`);
  }
}

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
