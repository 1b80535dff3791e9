import { CodesignError, type CodesignErrorOptions, type ErrorCategory } from './codesign-error.ts';

/** Text with `{name}` for each detail, or a function. Details are never secrets. */
type Text = string | ((details: never) => string);

interface ErrorEntry {
  readonly category?: ErrorCategory;
  readonly message: Text;
  readonly hint?: Text;
  /** The file may be intact: `verify` reports `unsupported`, not `broken`. */
  readonly isUnsupported?: true;
}

export interface ErrorDefinition extends ErrorEntry {
  readonly category: ErrorCategory;
}

type ErrorContext = Pick<
  CodesignErrorOptions,
  'cause' | 'httpStatus' | 'serviceCode' | 'record' | 'mayHaveBeenCounted'
>;

type ErrorTable = Readonly<Record<string, ErrorEntry>>;

type NamesIn<Words> = Words extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** `never` if the message has no details. */
type Takes<Words> = Words extends (details: infer Details) => string
  ? (details: Details) => void
  : [NamesIn<Words>] extends [never]
    ? never
    : (details: Readonly<Record<NamesIn<Words>, string | number>>) => void;
type TakesDetails<Entry> =
  | (Entry extends { readonly message: infer Message } ? Takes<Message> : never)
  | (Entry extends { readonly hint: infer Hint } ? Takes<Hint> : never);

/** Combines the types of the details for a function that throws one of several codes. */
type DetailsOf<Functions> = [Functions] extends [(details: infer All) => void] ? All : never;

type ErrorArguments<Entry> = [TakesDetails<Entry>] extends [never]
  ? [details?: Readonly<Record<string, never>>, context?: ErrorContext]
  : [details: DetailsOf<TakesDetails<Entry>>, context?: ErrorContext];

export interface ErrorFactory<Table extends ErrorTable> {
  <Code extends keyof Table & string>(code: Code, ...rest: ErrorArguments<Table[Code]>): CodesignError;
  readonly table: { readonly [Code in keyof Table]: ErrorDefinition };
}

/** Returns a function that creates errors: `throw peErrors('not-a-pe', { looksLike })`. */
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

function render(text: Text, details: object): string {
  if (typeof text === 'function') return text(details as never);
  const values = new Map<string, unknown>(Object.entries(details));
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values.get(name)));
}

type WarningTable = Readonly<Record<string, string>>;

export type Details<Message extends string> = [NamesIn<Message>] extends [never]
  ? []
  : [details: Readonly<Record<NamesIn<Message>, string | number>>];

interface WarningDefinition {
  readonly category: 'warning';
  readonly message: string;
}

export interface WarningFactory<Table extends WarningTable> {
  /** Returns `message [code]`. The text is not escaped: names from files may contain control characters. */
  <Code extends keyof Table & string>(code: Code, ...details: Details<Table[Code]>): string;
  readonly table: { readonly [Code in keyof Table]: WarningDefinition };
}

export function defineWarnings<const Table extends WarningTable>(entries: Table): WarningFactory<Table> {
  const table: Readonly<Record<string, WarningDefinition>> = Object.fromEntries(
    Object.entries(entries).map(([code, message]) => [code, { category: 'warning', message }]),
  );
  const make = (code: string, details: object = {}): string => `${render(entries[code] ?? '', details)} [${code}]`;
  return Object.assign(make, { table }) as WarningFactory<Table>;
}
