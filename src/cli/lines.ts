/** How every command writes lines for people: results on standard output, everything else on standard error, nothing from outside raw. */

import type { CodesignError } from '../errors/codesign-error.ts';
import { printable } from '../errors/printable.ts';
import type { FileEvent } from '../signing/outcome.ts';
import type { Io } from './io.ts';

export interface LinesOptions {
  /** Errors only. */
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Standard output belongs to the JSON document. */
  readonly json: boolean;
}

/** Lines that go on where another one began. */
const INDENT = '         ';
/** Longer than any path a system allows: what is printed of one. */
const PATH_LENGTH = 4096;

export class Lines {
  readonly #io: Io;
  readonly options: LinesOptions;

  constructor(io: Io, options: LinesOptions) {
    this.#io = io;
    this.options = options;
  }

  /** `line` is printable as it is. */
  result(line: string): void {
    if (this.options.quiet) return;
    // With --json standard output belongs to the document.
    const stream = this.options.json ? this.#io.stderr : this.#io.stdout;
    stream.write(`${line}\n`);
  }

  /** Even with --quiet. `line` is printable as it is. */
  tell(line: string): void {
    this.#io.stderr.write(`${line}\n`);
  }

  warning(text: string): void {
    if (!this.options.quiet) this.tell(`warning  ${printable(text, PATH_LENGTH)}`);
  }

  /** `doing`: signing, say. */
  fileEvent(event: FileEvent, doing: string): void {
    const path = shownPath(event.path);
    switch (event.type) {
      case 'file-started':
        if (this.options.verbose) this.tell(`${doing}  ${path}`);
        break;
      case 'file-left-out':
        this.warning(`${path}: left out: ${oneLine(event.error)}`);
        break;
      case 'temporary-file-left':
        this.warning(`${path}: this temporary file could not be removed: ${oneLine(event.error)}`);
        break;
    }
  }

  failed(path: string, error: CodesignError): void {
    this.tell(`failed   ${shownPath(path)}: ${oneLine(error)}`);
    this.explain(error);
  }

  /** An error that concerns the whole run. */
  error(error: CodesignError): void {
    this.tell(`error    ${oneLine(error)}`);
    this.explain(error);
  }

  explain(error: CodesignError): void {
    // The files that were not attempted have one reason, and its hint stands already where it failed.
    if (error.hint !== undefined && error.code !== 'not-attempted')
      this.tell(`${INDENT}hint: ${printable(error.hint, PATH_LENGTH)}`);
    if (!this.options.verbose) return;
    for (
      let cause: unknown = error.category === 'internal' ? error : error.cause;
      cause instanceof Error;
      cause = cause.cause
    ) {
      for (const line of (cause.stack ?? cause.message).split('\n'))
        this.tell(`${INDENT}${printable(line, PATH_LENGTH)}`);
    }
  }
}

export function oneLine(error: CodesignError): string {
  return `${printable(error.message, PATH_LENGTH)} [${error.code}]`;
}

export function shownPath(path: string): string {
  return printable(path, PATH_LENGTH);
}

/** The path, and where the result went when that is elsewhere. */
export function shownPaths({ path, output }: { readonly path: string; readonly output: string }): string {
  return output === path ? shownPath(path) : `${shownPath(path)} -> ${shownPath(output)}`;
}

export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
