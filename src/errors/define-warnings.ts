/** A folder's warnings as data: a table of code and message, and one function that creates the text. */

import { type NamesIn, render } from './define-errors.ts';

type WarningTable = Readonly<Record<string, string>>;

export type Details<Message extends string> = [NamesIn<Message>] extends [never]
  ? []
  : [details: Readonly<Record<NamesIn<Message>, string | number>>];

export interface WarningDefinition {
  readonly category: 'warning';
  readonly message: string;
}

export interface WarningFactory<Table extends WarningTable> {
  /** Returns `message [code]`. Not escaped: names from outside may contain control characters. */
  <Code extends keyof Table & string>(code: Code, ...details: Details<Table[Code]>): string;
  readonly table: { readonly [Code in keyof Table]: WarningDefinition };
}

/** Like `defineErrors`, for problems that do not end a run. */
export function defineWarnings<const Table extends WarningTable>(entries: Table): WarningFactory<Table> {
  const table: Readonly<Record<string, WarningDefinition>> = Object.fromEntries(
    Object.entries(entries).map(([code, message]) => [code, { category: 'warning', message }]),
  );
  const make = (code: string, details: object = {}): string => `${render(entries[code] ?? '', details)} [${code}]`;
  return Object.assign(make, { table }) as WarningFactory<Table>;
}
