/** A folder's errors as data: one table of code → category, message, hint, and one function that makes the error. */

import { CodesignError, type ErrorCategory } from './codesign-error.ts';

/**
 * Fixed, or made of details: file fields, offsets, names, never a secret. The parameter's type says which details an error
 * needs: `(d: { readonly path: string }) => …`.
 */
type Text = string | ((details: never) => string);

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

type ErrorTable = Readonly<Record<string, ErrorDefinition>>;

/** Functions that take the details of the message and of the hint; never where both are fixed. */
type TakesDetails<Definition> = Definition extends { readonly message: (details: infer OfMessage) => string }
  ? ((details: OfMessage) => void) | TakesHintDetails<Definition>
  : TakesHintDetails<Definition>;
type TakesHintDetails<Definition> = Definition extends { readonly hint: (details: infer OfHint) => string }
  ? (details: OfHint) => void
  : never;

/** What all of them take together: for one of several codes, the details of each. */
type DetailsOf<Functions> = [Functions] extends [(details: infer All) => void] ? All : never;

type ErrorArguments<Definition> = [TakesDetails<Definition>] extends [never]
  ? [details?: Readonly<Record<string, never>>, context?: ErrorContext]
  : [details: DetailsOf<TakesDetails<Definition>>, context?: ErrorContext];

export interface ErrorFactory<Table extends ErrorTable> {
  <Code extends keyof Table & string>(code: Code, ...rest: ErrorArguments<Table[Code]>): CodesignError;
  /** The table itself, for documentation and tests. */
  readonly table: Table;
}

/**
 * Turns a folder's error table into the function that makes its errors: `throw peErrors('not-a-pe', { looksLike })`. A detail
 * that is missing or misspelt does not compile.
 */
export function defineErrors<const Table extends ErrorTable>(table: Table): ErrorFactory<Table> {
  const make = (code: keyof Table & string, details: object = {}, context: ErrorContext = {}): CodesignError => {
    const { category, message, hint } = table[code] as ErrorDefinition;
    return new CodesignError({
      code,
      category,
      message: render(message, details),
      hint: hint === undefined ? undefined : render(hint, details),
      ...context,
    });
  };
  return Object.assign(make, { table }) as ErrorFactory<Table>;
}

function render(text: Text, details: object): string {
  return typeof text === 'function' ? text(details as never) : text;
}
