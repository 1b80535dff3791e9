/** A folder's errors as data: one table of code → category, message, hint, and one function that makes the error. */

import { CodesignError, type ErrorCategory } from './codesign-error.ts';

/** What a message or hint is made of: file fields, offsets, names. Never a secret. */
export type ErrorDetails = Readonly<Record<string, string | number | bigint | undefined>>;
type Text = string | ((details: ErrorDetails) => string);

export interface ErrorDefinition {
  readonly category: ErrorCategory;
  readonly message: Text;
  readonly hint?: Text;
}

export interface ErrorContext {
  readonly cause?: unknown;
  readonly httpStatus?: number | undefined;
  readonly serviceCode?: number | undefined;
  readonly record?: string | undefined;
  readonly mayHaveBeenCounted?: boolean | undefined;
}

export interface ErrorFactory<Code extends string> {
  (code: Code, details?: ErrorDetails, context?: ErrorContext): CodesignError;
  /** The table itself, for documentation and tests. */
  readonly table: Readonly<Record<Code, ErrorDefinition>>;
}

/** Turns a folder's error table into the function that makes its errors: `throw peErrors('not-a-pe', { looksLike })`. */
export function defineErrors<const Table extends Record<string, ErrorDefinition>>(
  table: Table,
): ErrorFactory<keyof Table & string> {
  const make = (code: keyof Table & string, details: ErrorDetails = {}, context: ErrorContext = {}): CodesignError => {
    const { category, message, hint } = table[code] as ErrorDefinition;
    return new CodesignError({
      code,
      category,
      message: render(message, details),
      hint: hint === undefined ? undefined : render(hint, details),
      ...context,
    });
  };
  return Object.assign(make, { table });
}

function render(text: Text, details: ErrorDetails): string {
  return typeof text === 'function' ? text(details) : text;
}
