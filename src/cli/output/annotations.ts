/** Annotations of GitHub Actions: workflow commands that put a failure or a warning beside the run, and beside its file. */

import { printable } from '../../errors/printable.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface Annotation {
  readonly kind: 'error' | 'warning';
  readonly title: string;
  readonly message: string;
  /** That it is about, if it is about one. */
  readonly file?: string | undefined;
}

const MESSAGE_LENGTH = 4096;

export function hasAnnotations({ GITHUB_ACTIONS }: Env): boolean {
  return GITHUB_ACTIONS === 'true';
}

/**
 * One line, in which nothing from outside ends the command or begins another one. The runner undoes the escapes:
 * `%0A` is shown as a line break.
 */
export function annotationLine({ kind, title, message, file }: Annotation): string {
  const properties = [...(file === undefined ? [] : [`file=${property(file)}`]), `title=${property(title)}`];
  const lines = message.split('\n').map((line) => data(printable(line, MESSAGE_LENGTH)));
  return `::${kind} ${properties.join(',')}::${lines.join('%0A')}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(printable(text, MESSAGE_LENGTH)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
