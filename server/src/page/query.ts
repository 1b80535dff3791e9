/** The query of the page's address: filter, position in the records, and days of the chart. */

import { readTime } from '../cli/values.ts';
import { reasonOf } from '../errors.ts';
import type { Position, SearchFilter } from '../records/records.ts';
import type { Client, StoredCertificate } from '../records/rows.ts';
import { printable } from '../text.ts';
import { DOWNLOAD_PATH, PAGE_PATH } from './layout.ts';

/** The fields of the form, as they came. */
const FIELDS = ['client', 'certificate', 'since', 'until', 'report', 'file', 'id', 'digest'] as const;
export type Field = (typeof FIELDS)[number];

/** What a report may be, in the words of exports. */
const REPORTS = { succeeded: 1, failed: 2, none: 'none' } as const;

/** How many days the chart may show. */
export const SPANS = [30, 90] as const;
type Span = (typeof SPANS)[number];

/** Where the form leads: to the records, which it is about. */
export const PAGE_ANCHOR = `${PAGE_PATH}#records`;

/** Longer names are in no record: a request with its `extra` is shorter. */
const LONGEST = 4096;

export interface Query {
  /** What is in the form. */
  readonly fields: Readonly<Partial<Record<Field, string>>>;
  readonly filter: SearchFilter;
  readonly days: Span;
  readonly place: Place;
  /** What is wrong with the query, for people. The other members must then not be used. */
  readonly problems: readonly string[];
}

/** Where the shown records lie: next to this one. */
export type Place =
  | { readonly order: 'newest first'; readonly after: Position | undefined }
  | { readonly order: 'oldest first'; readonly after: Position };

/** What a query may name. */
export interface Known {
  readonly clients: readonly Client[];
  readonly certificates: readonly StoredCertificate[];
}

/** Reads the query of an address. Empty values, which forms send, and unknown names are ignored. */
export function readQuery(url: string, { clients, certificates }: Known): Query {
  const [, ...search] = url.split('?');
  const parameters = new URLSearchParams(search.join('?'));
  const problems: string[] = [];
  const read = <T>(name: string, parse: (value: string) => T | undefined): T | undefined => {
    const value = parameters.get(name) || undefined;
    if (value === undefined) return undefined;
    try {
      const parsed = value.length > LONGEST ? undefined : parse(value);
      if (parsed === undefined) problems.push(`${name} is nothing that is known here`);
      return parsed;
    } catch (error) {
      problems.push(reasonOf(error));
      return undefined;
    }
  };
  const filter: SearchFilter = {
    clientId: read('client', (value) => clients.find(({ accessKey }) => accessKey === value)?.id),
    certificate: read('certificate', (value) => certificates.find(({ number }) => number === value)?.number),
    since: read('since', (value) => readTime('since', value)),
    until: read('until', (value) => readTime('until', value)),
    report: read('report', (value) => Object.entries(REPORTS).find(([name]) => name === value)?.[1]),
    id: read('id', (value) => startOf(value, /^[\x21-\x7e]{1,64}$/)),
    digest: read('digest', (value) => startOf(value, /^[\da-f]{1,128}$/)),
    file: read('file', printable), // as names are shown, so that they may be copied from the page
  };
  const before = read('before', readPosition);
  const after = read('after', readPosition);
  const days = read('days', (value) => SPANS.find((span) => String(span) === value));
  const fields = FIELDS.map((name) => [name, printable(parameters.get(name) ?? '')] as const).filter(
    ([, value]) => value !== '' && value.length <= LONGEST,
  );
  return {
    fields: Object.fromEntries(fields),
    filter,
    days: days ?? SPANS[0],
    place: after === undefined ? { order: 'newest first', after: before } : { order: 'oldest first', after },
    problems,
  };
}

/** The address of this query with other days or another position. */
export function pageLink(
  { fields, days }: Pick<Query, 'fields' | 'days'>,
  other: { readonly days?: Span; readonly before?: Position; readonly after?: Position },
  section: string,
): string {
  const shown = other.days ?? days;
  const query = withParameters(fields, {
    ...(shown !== SPANS[0] && { days: String(shown) }),
    ...(other.before && { before: positionText(other.before) }),
    ...(other.after && { after: positionText(other.after) }),
  });
  return `${PAGE_PATH}${query}#${section}`;
}

/** The address that shows one record with all that is known of it. */
export function recordLink(id: string): string {
  return `${PAGE_PATH}${withParameters({ id }, {})}#records`;
}

/** The address of the CSV with what is filtered. */
export function downloadLink({ fields }: Pick<Query, 'fields'>): string {
  return `${DOWNLOAD_PATH}${withParameters(fields, {})}`;
}

function withParameters(fields: Query['fields'], more: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ...fields, ...more }).toString();
  return query === '' ? '' : `?${query}`;
}

/** The start of an id or a digest, as people paste it. */
function startOf(value: string, pattern: RegExp): string | undefined {
  const start = value.trim().replace(/…$/, '').toLowerCase();
  return pattern.test(start) ? start : undefined;
}

function positionText({ signedAt, id }: Position): string {
  return `${signedAt.toISOString()},${id}`;
}

function readPosition(value: string): Position | undefined {
  const [, at = '', id = ''] = /^(\d{4}-\d{2}-\d{2}T[\d:.]{12}Z),([\x21-\x7e]{1,64})$/.exec(value) ?? [];
  const signedAt = new Date(at);
  return Number.isNaN(signedAt.getTime()) ? undefined : { signedAt, id };
}
