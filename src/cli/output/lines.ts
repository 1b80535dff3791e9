/** Prints results on standard output, and all other text on standard error. */

import type { Writable } from 'node:stream';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import type { FileEvent } from '../../signing/outcome.ts';
import type { Io } from '../io.ts';
import { type Annotation, annotationLine, hasAnnotations } from './github.ts';
import { hasColour, isTerminal, LEAST_LIVE_COLUMNS, lineColumns, painted } from './terminal.ts';
import { wrapped } from './text-layout.ts';

export interface LinesOptions {
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const SHORT_WAIT_MILLISECONDS = 5000;
/** Indents the text of a line that has no first word. */
export const INDENT = '         ';
const PATH_LENGTH = 4096;

interface LinesBelow {
  readonly own?: readonly string[];
  /** Lines below the list of other files with the same failure. */
  readonly others?: readonly string[];
}

export class Lines {
  readonly #io: Io;
  readonly options: LinesOptions;
  readonly #equal = groupEqual();

  constructor(io: Io, options: LinesOptions) {
    this.#io = io;
    this.options = options;
  }

  get isBrief(): boolean {
    return !this.options.verbose && isTerminal(this.#resultStream());
  }

  result(line: string): void {
    if (this.options.quiet) return;
    writeLines(this.#resultStream(), [line], this.#io);
  }

  /** Prints even with --quiet. */
  print(line: string, more: readonly string[] = []): void {
    writeLines(this.#io.stderr, [line, ...more], this.#io);
  }

  /** Progress is not a result, so it goes to standard error. */
  progress(line: string): void {
    if (!this.options.quiet) this.print(line);
  }

  warning(text: string): void {
    if (this.options.quiet) return;
    this.print(`warning  ${shown(text)}`);
    this.#annotate(warningAnnotation(text));
  }

  /** `printOthers` lists other files with the same `text`, even if `about` differs. */
  fileWarning(path: string, text: string, about = ''): void {
    if (this.options.quiet) return;
    const isFirst = this.#equal.isFirst({ word: 'warning', path, text: shown(text) });
    if (isFirst || this.options.verbose) this.print(`warning  ${shown(path)}: ${shown(text + about)}`);
    this.#annotate(warningAnnotation(text + about, path));
  }

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
        this.fileWarning(event.path, `this temporary file could not be removed: ${oneLine(event.error)}`);
        break;
    }
  }

  /** `printOthers` lists other files with the same failure. */
  failed(path: string, error: CodesignError, { own = [], others = [] }: LinesBelow = {}): void {
    const text = oneLine(error);
    if (this.#equal.isFirst({ word: 'failed', path, text, key: error.hint, below: others })) {
      this.print(`failed   ${shown(path)}: ${text}`, [...this.#explanation(error), ...own]);
    } else if (this.options.verbose) {
      this.print(`failed   ${shown(path)}: the same error as above [${error.code}]`, own);
    }
    this.#annotate(annotationOf(error, path));
  }

  printOthers(): void {
    const groups = this.#equal.takeAll();
    if (this.options.verbose) return;
    for (const { word, text, below, others, count } of groups) {
      const more = count - others.length;
      const names = others.map(shown).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en-US')} more` : '');
      const line = `${word.padEnd(INDENT.length)}${names}: ${text}`;
      if (word === 'failed') this.print(line, below);
      else this.progress(line);
    }
  }

  error(error: CodesignError): void {
    this.print(`error    ${oneLine(error)}`, this.#explanation(error));
    // `extract` writes the signature itself to standard output.
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

interface FileLine {
  readonly word: 'failed' | 'warning';
  readonly path: string;
  readonly text: string;
  /** Distinguishes groups with the same text. */
  readonly key?: string | undefined;
  readonly below?: readonly string[];
}

interface EqualLines extends FileLine {
  /** Paths of further files with the same line. */
  readonly others: string[];
  count: number;
}

const MOST_NAMES = 10;

function groupEqual() {
  const groups = new Map<string, EqualLines>();
  return {
    isFirst(line: FileLine): boolean {
      const key = JSON.stringify([line.word, line.text, line.key, line.below]);
      const group = groups.get(key);
      if (group === undefined) {
        groups.set(key, { ...line, others: [], count: 0 });
        return true;
      }
      group.count += 1;
      if (group.others.length < MOST_NAMES) group.others.push(line.path);
      return false;
    },
    takeAll(): readonly EqualLines[] {
      const all = [...groups.values()].filter(({ count }) => count > 0);
      groups.clear();
      return all;
    },
  };
}

/** Uses a single call, because the live line is redrawn between two calls. */
export function writeLines(stream: Writable, lines: readonly string[], { env }: Io): void {
  const columns = lineColumns(stream);
  const laidOut = columns < LEAST_LIVE_COLUMNS ? lines : lines.flatMap((line) => wrapped(line, columns));
  stream.write(`${painted(laidOut.join('\n'), hasColour(stream, env))}\n`);
}

function warningAnnotation(message: string, file?: string): Annotation {
  return { kind: 'warning', title: 'codesign-remote', message, file };
}

function annotationOf({ code, message, hint }: CodesignError, file?: string): Annotation {
  return { kind: 'error', title: code, message: hint === undefined ? message : `${message}\n${hint}`, file };
}

export function oneLine(error: CodesignError): string {
  return `${printable(error.message, PATH_LENGTH)} [${error.code}]`;
}

export function shown(text: string): string {
  return printable(text, PATH_LENGTH);
}

export function shellWord(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replace(/["$`]/g, '\\$&')}"`;
}

/** The user name, the password and the query may contain secrets. */
export function maskedAddress(text: string): string {
  if (!/^[a-z]+:\/\//i.test(text)) return text;
  return text.replace(/[?#].*/s, '?…').replace(/^(\w+:\/\/).*@/s, '$1…@');
}

export function maskedKey(accessKey: string): string {
  return accessKey.length < 12 ? '****' : `${accessKey.slice(0, 4)}…${accessKey.slice(-4)}`;
}
