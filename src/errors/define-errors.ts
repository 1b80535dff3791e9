/** A folder's errors as data: a table of code, category, message and hint, and one function that creates the errors. */

import { CodesignError, type ErrorCategory } from './codesign-error.ts';

/** Text with `{name}` for a detail, or a function. Details are file fields, offsets and names, never a secret. */
type Text = string | ((details: never) => string);

interface ErrorEntry {
  readonly category?: ErrorCategory;
  readonly message: Text;
  readonly hint?: Text;
  /** True if the file may be intact: `verify` then reports `unsupported`, not `broken`. */
  readonly isUnsupported?: true;
}

export interface ErrorDefinition extends ErrorEntry {
  readonly category: ErrorCategory;
}

export interface ErrorContext {
  readonly cause?: unknown;
  readonly httpStatus?: number | undefined;
  readonly serviceCode?: number | undefined;
  readonly record?: string | undefined;
  readonly mayHaveBeenCounted?: boolean | undefined;
}

type ErrorTable = Readonly<Record<string, ErrorEntry>>;

export type NamesIn<Words> = Words extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A function that takes the details of a text; `never` if the text needs none. */
type Takes<Words> = Words extends (details: infer Details) => string
  ? (details: Details) => void
  : [NamesIn<Words>] extends [never]
    ? never
    : (details: Readonly<Record<NamesIn<Words>, string | number>>) => void;
type TakesDetails<Entry> =
  | (Entry extends { readonly message: infer Message } ? Takes<Message> : never)
  | (Entry extends { readonly hint: infer Hint } ? Takes<Hint> : never);

/** All details together, for a call that throws one of several codes. */
type DetailsOf<Functions> = [Functions] extends [(details: infer All) => void] ? All : never;

type ErrorArguments<Entry> = [TakesDetails<Entry>] extends [never]
  ? [details?: Readonly<Record<string, never>>, context?: ErrorContext]
  : [details: DetailsOf<TakesDetails<Entry>>, context?: ErrorContext];

export interface ErrorFactory<Table extends ErrorTable> {
  <Code extends keyof Table & string>(code: Code, ...rest: ErrorArguments<Table[Code]>): CodesignError;
  readonly table: { readonly [Code in keyof Table]: ErrorDefinition };
}

/**
 * Turns a folder's error table into a function that creates its errors: `throw peErrors('not-a-pe', { looksLike })`. A
 * missing or misspelt detail does not compile.
 */
export function defineErrors<const Table extends ErrorTable>(
  category: ErrorCategory,
  entries: Table,
): ErrorFactory<Table> {
  const table: Readonly<Record<string, ErrorDefinition>> = Object.fromEntries(
    Object.entries(entries).map(([code, entry]) => [code, { category, ...entry }]),
  );
  const make = (code: string, details: object = {}, context: ErrorContext = {}): CodesignError => {
    const { message, hint, ...definition } = table[code] as ErrorDefinition;
    const texts = { message: render(message, details), hint: hint && render(hint, details) };
    return new CodesignError({ code, ...definition, ...texts, ...context });
  };
  return Object.assign(make, { table }) as ErrorFactory<Table>;
}

export function render(text: Text, details: object): string {
  if (typeof text === 'function') return text(details as never);
  const values = new Map<string, unknown>(Object.entries(details));
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values.get(name)));
}
