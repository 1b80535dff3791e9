/** How every command writes lines for people: results on standard output, everything else on standard error, nothing from outside raw. */

import type { Writable } from 'node:stream';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import type { FileEvent } from '../../signing/outcome.ts';
import type { Io } from '../io.ts';
import { type Annotation, annotationLine, hasAnnotations } from './github.ts';

import { hasColour, painted } from './terminal.ts';

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
    this.#write(this.#resultStream(), [line]);
  }

  /** Even with --quiet. The lines are printable as they are. */
  tell(line: string, more: readonly string[] = []): void {
    this.#write(this.#io.stderr, [line, ...more]);
  }

  /** On standard error, since it is no result. `line` is printable as it is. */
  progress(line: string): void {
    if (!this.options.quiet) this.tell(line);
  }

  /** `path`: of the file that it is about, if it is about one. */
  warning(text: string, path?: string): void {
    if (this.options.quiet) return;
    const place = path === undefined ? '' : `${shown(path)}: `;
    this.tell(`warning  ${place}${printable(text, PATH_LENGTH)}`);
    this.#annotate({ kind: 'warning', title: 'codesign-remote', message: text, file: path });
  }

  /** `doing`: signing, say. */
  fileEvent(event: FileEvent, doing: string): void {
    switch (event.type) {
      case 'file-started':
        if (this.options.verbose) this.tell(`${doing}  ${shown(event.path)}`);
        break;
      case 'file-left-out':
        this.warning(`left out: ${oneLine(event.error)}`, event.path);
        break;
      case 'temporary-file-left':
        this.warning(`this temporary file could not be removed: ${oneLine(event.error)}`, event.path);
        break;
    }
  }

  failed(path: string, error: CodesignError): void {
    this.tell(`failed   ${shown(path)}: ${oneLine(error)}`, this.#explanation(error));
    // Their reason is annotated already, and only so many annotations are shown.
    if (error.code !== 'not-attempted') this.#annotate(annotationOf(error, path));
  }

  /** An error that concerns the whole run. */
  error(error: CodesignError): void {
    this.tell(`error    ${oneLine(error)}`, this.#explanation(error));
    // Standard output may be meant for something else, as of `extract`.
    this.#annotate(annotationOf(error), this.#io.stderr);
  }

  explain(error: CodesignError): void {
    const [line, ...more] = this.#explanation(error);
    if (line !== undefined) this.tell(line, more);
  }

  #explanation(error: CodesignError): readonly string[] {
    const lines: string[] = [];
    // The files that were not attempted have one reason, and its hint stands already where it failed.
    if (error.hint !== undefined && error.code !== 'not-attempted') lines.push(`${INDENT}hint: ${shown(error.hint)}`);
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

  /** With --json standard output belongs to the document. */
  #resultStream(): Writable {
    return this.options.json ? this.#io.stderr : this.#io.stdout;
  }

  #annotate(annotation: Annotation, stream = this.#resultStream()): void {
    if (hasAnnotations(this.#io.env)) stream.write(`${annotationLine(annotation)}\n`);
  }

  /** At once: between two writes the live line would be drawn again. */
  #write(stream: Writable, lines: readonly string[]): void {
    stream.write(`${painted(lines.join('\n'), hasColour(stream, this.#io.env))}\n`);
  }
}

/** For whoever looks at the run from outside: all that the lines say. */
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

/** The path, and where the result went when that is elsewhere. */
export function shownPaths({ path, output }: { readonly path: string; readonly output: string }): string {
  return output === path ? shown(path) : `${shown(path)} -> ${shown(output)}`;
}

/** Enough of an access key to recognise it, too little to use it. */
export function maskedKey(accessKey: string): string {
  return accessKey.length < 12 ? '****' : `${accessKey.slice(0, 4)}…${accessKey.slice(-4)}`;
}

export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
