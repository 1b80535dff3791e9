import { type Extra, extraSchema } from '../../../src/service/messages.ts';
import { printable } from '../text.ts';
import type { Client, SignatureRecord } from './rows.ts';

/** Removes the folders from the file name (API 2.3), because folder names may identify people and projects. */
export function maskExtra(extra: Extra | undefined): Extra | undefined {
  if (extra?.signing_filename === undefined) return extra;
  return { ...extra, signing_filename: extra.signing_filename.split(/[/\\]/).at(-1) ?? '' };
}

export type Shown = ReturnType<typeof shown>;

export function shown(record: SignatureRecord, clients: ReadonlyMap<string, Client>) {
  const client = clients.get(record.clientId);
  return {
    id: record.id,
    signedAt: record.signedAt.toISOString(),
    client: client?.accessKey ?? record.clientId,
    clientName: client?.name,
    certificate: record.certificate,
    algorithm: record.algorithm,
    digest: Buffer.from(record.digest).toString('hex'),
    counted: record.counted,
    report: record.report === undefined ? 'none' : record.report.status === 1 ? 'succeeded' : 'failed',
    reportedAt: record.report?.at.toISOString(),
    extra: record.extra,
  };
}

const FIELDS = [
  ...(['id', 'signedAt', 'client', 'clientName', 'certificate', 'algorithm', 'digest', 'counted'] as const),
  ...(['report', 'reportedAt'] as const),
];
const EXTRA_FIELDS = Object.keys(extraSchema.entries) as (keyof Extra)[];

export const CSV_HEADING = [...FIELDS, ...EXTRA_FIELDS].join(',');

export function csvLine(record: Shown): string {
  return csvRow([...FIELDS.map((field) => record[field]), ...EXTRA_FIELDS.map((field) => record.extra?.[field])]);
}

type Value = string | number | boolean | null | undefined;

export function csvRow(values: readonly Value[]): string {
  return values.map(cell).join(',');
}

/** Positions before characters that start a formula. Spreadsheets ignore spaces and quotes before these characters. */
const FORMULAS = /(^|[,;])([\s"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Encodes a cell (RFC 4180). Control characters are escaped, and an apostrophe is inserted before each formula. A formula
 * can also start inside a quoted cell, because spreadsheets with another separator ignore the quotes.
 */
function cell(value: Value): string {
  if (typeof value !== 'string') return String(value ?? '');
  const harmless = printable(value).replace(FORMULAS, "$1$2'");
  return /[",;]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
