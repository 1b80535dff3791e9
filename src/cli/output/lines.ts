/** Lines for people: results on standard output, everything else on standard error. Text from outside is made printable. */

import type { Writable } from 'node:stream';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import type { FileEvent } from '../../signing/outcome.ts';
import type { Io } from '../io.ts';
import { type Annotation, annotationLine, hasAnnotations } from './github.ts';
import { hasColour, isTerminal, LEAST_LIVE_COLUMNS, lineColumns, painted } from './terminal.ts';
import { wrapped } from './text-layout.ts';

export interface LinesOptions {
  /** Errors only. */
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  /** Standard output is for the JSON document. */
  readonly json?: boolean | undefined;
}

const SHORT_WAIT_MILLISECONDS = 5000;
/** Of a line that continues the one before. */
export const INDENT = '         ';
/** Longer than any path that a system allows. */
const PATH_LENGTH = 4096;

export class Lines {
  readonly #io: Io;
  readonly options: LinesOptions;

  constructor(io: Io, options: LinesOptions) {
    this.#io = io;
    this.options = options;
  }

  /** On a terminal lines are short, except with --verbose. */
  get isBrief(): boolean {
    return !this.options.verbose && isTerminal(this.#resultStream());
  }

  /** `line` must be printable. */
  result(line: string): void {
    if (this.options.quiet) return;
    writeLines(this.#resultStream(), [line], this.#io);
  }

  /** Printed even with --quiet. The lines must be printable. */
  print(line: string, more: readonly string[] = []): void {
    writeLines(this.#io.stderr, [line, ...more], this.#io);
  }

  /** On standard error, because it is not a result. `line` must be printable. */
  progress(line: string): void {
    if (!this.options.quiet) this.print(line);
  }

  /** `path`: of the file concerned, if there is one. */
  warning(text: string, path?: string): void {
    if (this.options.quiet) return;
    const place = path === undefined ? '' : `${shown(path)}: `;
    this.print(`warning  ${place}${printable(text, PATH_LENGTH)}`);
    this.#annotate(warningAnnotation(text, path));
  }

  /** The warning was printed for another file. */
  warningAgain(text: string, path: string): void {
    if (this.options.verbose) this.warning(text, path);
    else if (!this.options.quiet) this.#annotate(warningAnnotation(text, path));
  }

  /** `doing`: for example signing. */
  fileEvent(event: FileEvent, doing: string): void {
    switch (event.type) {
      case 'file-started':
        if (this.options.verbose) this.print(`${doing}  ${shown(event.path)}`);
        break;
      case 'waiting-to-retry': {
        const { reason, milliseconds, attempt, maxAttempts } = event;
        if (milliseconds < SHORT_WAIT_MILLISECONDS) break;
        const seconds = Math.round(milliseconds / 1000);
        this.progress(`waiting  ${seconds} s before attempt ${attempt} of ${maxAttempts}: ${shown(reason)}`);
        break;
      }
      case 'temporary-file-left':
        this.warning(`this temporary file could not be removed: ${oneLine(event.error)}`, event.path);
        break;
    }
  }

  failed(path: string, error: CodesignError): void {
    this.print(`failed   ${shown(path)}: ${oneLine(error)}`, this.#explanation(error));
    this.#annotate(annotationOf(error, path));
  }

  /** The file failed with an error that was printed for another one. */
  failedAgain(path: string, error: CodesignError): void {
    if (this.options.verbose) this.print(`failed   ${shown(path)}: the same error as above [${error.code}]`);
    this.#annotate(annotationOf(error, path));
  }

  /** An error that concerns the whole run. */
  error(error: CodesignError): void {
    this.print(`error    ${oneLine(error)}`, this.#explanation(error));
    // `extract` writes the signature to standard output.
    this.#annotate(annotationOf(error), this.#io.stderr);
  }

  explain(error: CodesignError): void {
    const [line, ...more] = this.#explanation(error);
    if (line !== undefined) this.print(line, more);
  }

  #explanation(error: CodesignError): readonly string[] {
    const lines: string[] = [];
    if (error.hint !== undefined) lines.push(`${INDENT}hint: ${shown(error.hint)}`);
    if (!this.options.verbose) return lines;
    for (
      let cause: unknown = error.category === 'internal' ? error : error.cause;
      cause instanceof Error;
      cause = cause.cause
    ) {
      for (const line of (cause.stack ?? cause.message).split('\n'))
        lines.push(`${INDENT}${printable(line, PATH_LENGTH)}`);
    }
    return lines;
  }

  #resultStream(): Writable {
    return this.options.json ? this.#io.stderr : this.#io.stdout;
  }

  #annotate(annotation: Annotation, stream = this.#resultStream()): void {
    if (hasAnnotations(this.#io.env)) stream.write(`${annotationLine(annotation)}\n`);
  }
}

/** Printable lines, wrapped on a terminal. In one write: between two the live line would be drawn again. */
export function writeLines(stream: Writable, lines: readonly string[], { env }: Io): void {
  const columns = lineColumns(stream);
  const laidOut = columns < LEAST_LIVE_COLUMNS ? lines : lines.flatMap((line) => wrapped(line, columns));
  stream.write(`${painted(laidOut.join('\n'), hasColour(stream, env))}\n`);
}

function warningAnnotation(message: string, file: string | undefined): Annotation {
  return { kind: 'warning', title: 'codesign-remote', message, file };
}

function annotationOf({ code, message, hint }: CodesignError, file?: string): Annotation {
  return { kind: 'error', title: code, message: hint === undefined ? message : `${message}\n${hint}`, file };
}

export function oneLine(error: CodesignError): string {
  return `${printable(error.message, PATH_LENGTH)} [${error.code}]`;
}

/** Text from outside, made printable on one line. */
export function shown(text: string): string {
  return printable(text, PATH_LENGTH);
}

/** An argument of a command that a user can copy. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replace(/["$`]/g, '\\$&')}"`;
}

/** The path, and the path of the result if that is another one. */
export function shownPaths({ path, output }: { readonly path: string; readonly output: string }): string {
  return output === path ? shown(path) : `${shown(path)} -> ${shown(output)}`;
}

/** Without the query of an address, which may hold a token, and without its user name and password. */
export function maskedAddress(text: string): string {
  if (!/^[a-z]+:\/\//i.test(text)) return text;
  return text.replace(/[?#].*/s, '?…').replace(/^(\w+:\/\/).*@/s, '$1…@');
}

/** Enough of an access key to recognise it, too little to use it. */
export function maskedKey(accessKey: string): string {
  return accessKey.length < 12 ? '****' : `${accessKey.slice(0, 4)}…${accessKey.slice(-4)}`;
}
