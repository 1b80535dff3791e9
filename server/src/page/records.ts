/** The page's signature records: search in steps, so that signing goes on in between, the table, its filter, and the CSV. */

import type { Position, SearchFilter } from '../records/records.ts';
import { batches, type Search } from '../records/records.ts';
import type { Client, SignatureRecord } from '../records/rows.ts';
import { CSV_HEADING, csvLine, type Shown, shown } from '../records/shown.ts';
import { count, type Html, html, type Part, size, time, verbatim } from './html.ts';
import {
  downloadLink,
  type Field,
  type Known,
  PAGE_ANCHOR,
  type Place,
  pageLink,
  type Query,
  recordLink,
  SPANS,
} from './query.ts';
import { cardTable } from './tables.ts';

/** Enough digits to distinguish two digests. The CSV has all digits. */
const DIGEST_SHOWN = 12;

const CAPTION = 'Signature records, the latest first; times are in UTC';
const COLUMNS = ['File', 'Report', 'Signed (UTC)', 'Client', 'Host', 'Certificate', 'Digest', 'Record id'];
const NOT_GIVEN = html`<span class="quiet">not given</span>`;

/** @param found undefined where the query is not to be used @param lookedAt how many records are looked at for one page */
export function recordsSection(found: Found | undefined, query: Query, known: Known, lookedAt: number): Html {
  return html`
<section id="records" class="panel" aria-labelledby="records-title">
  <div class="heading">
    <h2 id="records-title">Signatures</h2>
    ${found !== undefined && html`<a class="button" href="${downloadLink(query)}" download>Download ${isFiltered(query) ? 'what is filtered' : 'all'} as CSV</a>`}
  </div>
  ${filterForm(query, known)}
  ${found && list(found, query, known.clients, lookedAt)}
</section>`;
}

function list(found: Found, query: Query, clients: readonly Client[], lookedAt: number): Html {
  const byId = new Map(clients.map((client) => [client.id, client]));
  const whole = query.filter.id !== undefined && found.records.length === 1;
  const rows = found.records.map((record) => cellsOf(shown(record, byId), whole));
  return html`
  ${rows.length === 0 ? nothing(found, query, lookedAt) : cardTable(CAPTION, COLUMNS, rows, whole ? 'cards' : 'cards records')}
  ${rows.length > 0 && found.stopped && html`<p class="note">${count(lookedAt)} records were looked at for these; there may be more.</p>`}
  ${pager(found, query)}`;
}

function nothing({ stopped }: Found, query: Query, lookedAt: number): Html {
  if (stopped) return html`<p class="empty">None of the ${count(lookedAt)} records looked at fits; others may.</p>`;
  if (isFiltered(query)) return html`<p class="empty">No signature fits the filter.</p>`;
  return html`<p class="empty">Nothing was signed yet.</p>`;
}

/** What a record's row shows, in the order of the columns. @param whole whether nothing is shortened */
function cellsOf(record: Shown, whole: boolean): readonly Part[] {
  const { id, signedAt, client, clientName, certificate, algorithm, digest, extra } = record;
  const { signing_filename: file, signing_filesize: bytes, hostname, platform } = extra ?? {};
  const shownDigest = whole ? digest : `${digest.slice(0, DIGEST_SHOWN)}…`;
  const name = file ? html`<b>${file}</b>` : NOT_GIVEN;
  return [
    html`<a class="clip" href="${recordLink(id)}" title="${file ?? id}">${name}</a>${bytes !== undefined && second(size(bytes))}`,
    reportOf(record),
    time(new Date(signedAt)),
    html`<span class="clip" title="${clientName ?? client}">${clientName ?? html`<code>${client}</code>`}</span>`,
    html`<span class="clip" title="${hostname ?? ''}">${hostname ?? NOT_GIVEN}</span>${platform !== undefined && second(platform)}`,
    certificate,
    html`<span class="digest">${algorithm} <code>${shownDigest}</code></span>`,
    html`<code class="id">${id}</code>`,
  ];
}

function second(text: string): Html {
  return html` <span class="second clip" title="${text}">${text}</span>`;
}

function reportOf({ report, reportedAt, counted }: Shown): Html {
  const uncounted = !counted && html` <span class="badge none uncounted">not counted</span>`;
  if (reportedAt === undefined) return html`<span class="badge none">none</span>${uncounted}`;
  const at = html`<span class="at">${time(new Date(reportedAt))}</span>`;
  return html`<span class="report"><span class="badge ${report}">${report}</span>${uncounted} ${at}</span>`;
}

function pager({ older, newer }: Found, query: Query): Html | undefined {
  if (older === undefined && newer === undefined) return undefined;
  const link = (label: string, address: string) => html`<li><a class="button" href="${address}">${label}</a></li>`;
  return html`
  <nav class="pager" aria-label="Pages of signatures">
    <ul>
      ${newer && link('Latest', pageLink(query, {}, 'records'))}
      ${newer && link('← Newer', pageLink(query, { after: newer }, 'records'))}
      ${older && link('Older →', pageLink(query, { before: older }, 'records'))}
    </ul>
  </nav>`;
}

function isFiltered({ fields }: Query): boolean {
  return Object.keys(fields).length > 0;
}

/** More clients or certificates than this are not a list to choose from. */
const CHOICES = 200;

const REPORTS: readonly Choice[] = [
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['none', 'none yet'],
];

type Choice = readonly [value: string, name: string];

/** The form works without scripts, and leads to an address to keep. */
function filterForm(query: Query, { clients, certificates }: Known): Html {
  const { fields, days, problems } = query;
  const named = clients.map(
    ({ accessKey, name }): Choice => [accessKey, name === undefined ? accessKey : `${name} (${accessKey})`],
  );
  const numbers = certificates.map(({ number }): Choice => [number, number]);
  return html`
  ${problems.length > 0 && html`<div class="problems" role="alert"><p>This filter cannot be used:</p><ul>${problems.map((problem) => html`<li>${problem}</li>`)}</ul></div>`}
  <form class="filter" method="get" action="${PAGE_ANCHOR}" aria-label="Filter">
    ${chosen('client', 'Client', named, fields)}
    ${chosen('certificate', 'Certificate', numbers, fields)}
    ${chosen('report', 'Report', REPORTS, fields)}
    ${timeField('since', 'From (UTC)', fields)}
    ${timeField('until', 'Before (UTC)', fields)}
    ${textField('file', 'File name contains', fields)}
    ${textField('id', 'Record id starts with', fields)}
    ${textField('digest', 'Digest starts with', fields)}
    ${days !== SPANS[0] && html`<input type="hidden" name="days" value="${days}">`}
    <div class="buttons">
      <button type="submit">Filter</button>
      ${Object.keys(fields).length > 0 && html`<a class="button" href="${pageLink({ fields: {}, days }, {}, 'records')}">Show all</a>`}
    </div>
  </form>`;
}

function field(name: Field, label: string, control: Html): Html {
  return html`<div class="field"><label for="${name}">${label}</label>${control}</div>`;
}

function textField(name: Field, label: string, fields: Query['fields']): Html {
  const value = verbatim(fields[name] ?? '');
  return field(name, label, html`<input id="${name}" name="${name}" type="search" maxlength="200" value="${value}">`);
}

function chosen(name: Field, label: string, choices: readonly Choice[], fields: Query['fields']): Html {
  const value = fields[name] ?? '';
  if (choices.length > CHOICES) {
    return field(name, label, html`<input id="${name}" name="${name}" value="${verbatim(value)}">`);
  }
  const options = choices.map(
    ([each, text]) => html`<option value="${verbatim(each)}"${each === value && html` selected`}>${text}</option>`,
  );
  return field(name, label, html`<select id="${name}" name="${name}"><option value="">any</option>${options}</select>`);
}

/** An address may say a time, as the commands take it; the browser's field is for days. */
function timeField(name: 'since' | 'until', label: string, fields: Query['fields']): Html {
  const value = fields[name] ?? '';
  const type = value === '' || /^\d{4}-\d{2}-\d{2}$/.test(value) ? 'date' : 'text';
  return field(name, label, html`<input id="${name}" name="${name}" type="${type}" value="${verbatim(value)}">`);
}

/** The records of one page. */
export interface Found {
  /** Newest first. */
  readonly records: readonly SignatureRecord[];
  /** Links to older and newer records. */
  readonly older: Position | undefined;
  readonly newer: Position | undefined;
  /** Whether it looked at so many that it stopped before it knew of a whole page. */
  readonly stopped: boolean;
}

/** @param bounds how many records a page has, and how many are looked at for one */
export async function findPage(
  records: Search,
  filter: SearchFilter,
  place: Place,
  bounds: { readonly shown: number; readonly lookedAt: number },
): Promise<Found> {
  const found: SignatureRecord[] = [];
  let rest: Position | undefined;
  let lookedAt = 0;
  for await (const { records: fitting, next, size } of batches(records, filter, place, bounds.shown + 1)) {
    for (const record of fitting) found.push(record);
    lookedAt += size;
    rest = next;
    if (found.length > bounds.shown || lookedAt >= bounds.lookedAt) break;
  }
  const full = found.length > bounds.shown;
  const shown = found.slice(0, bounds.shown);
  const further = full ? shown.at(-1) : rest;
  const stopped = !full && rest !== undefined;
  if (place.order === 'newest first') {
    return { records: shown, older: further, newer: place.after && (shown[0] ?? place.after), stopped };
  }
  // Fewer newer ones than a page holds: then the newest page is what is meant.
  if (!full && !stopped) return await findPage(records, filter, { order: 'newest first', after: undefined }, bounds);
  const newestFirst = shown.toReversed();
  return { records: newestFirst, older: newestFirst.at(-1) ?? place.after, newer: further, stopped };
}

/** The filtered records as CSV, as `export` writes them, oldest first, up to the start of the download: new records would make it endless. */
export async function* csvOf(
  records: Search,
  filter: SearchFilter,
  clients: readonly Client[],
  now: Date,
): AsyncGenerator<string> {
  const byId = new Map(clients.map((client) => [client.id, client]));
  const until = filter.until !== undefined && filter.until < now ? filter.until : now;
  yield `${CSV_HEADING}\n`;
  for await (const batch of batches(records, { ...filter, until }, { order: 'oldest first', after: undefined })) {
    if (batch.records.length > 0) {
      yield batch.records.map((record) => `${csvLine(shown(record, byId))}\n`).join('');
    }
  }
}
