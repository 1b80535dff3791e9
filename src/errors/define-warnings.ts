/** A folder's warnings as data: one table of code → message, and one function that makes the line for people. */

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
  /** `message [code]`. Raw: names from outside may hold control characters; escape them where they are shown. */
  <Code extends keyof Table & string>(code: Code, ...details: Details<Table[Code]>): string;
  /** For documentation and tests. */
  readonly table: { readonly [Code in keyof Table]: WarningDefinition };
}

/** As `defineErrors`, for what a run reports and continues after. */
export function defineWarnings<const Table extends WarningTable>(entries: Table): WarningFactory<Table> {
  const table: Readonly<Record<string, WarningDefinition>> = Object.fromEntries(
    Object.entries(entries).map(([code, message]) => [code, { category: 'warning', message }]),
  );
  const make = (code: string, details: object = {}): string => `${render(entries[code] ?? '', details)} [${code}]`;
  return Object.assign(make, { table }) as WarningFactory<Table>;
}
