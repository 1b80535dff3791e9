/** The page's table of signature records, with what is asked for and the way to older and newer ones. */

import { type Shown, shown } from '../records/shown.ts';
import type { Client } from '../records/store.ts';
import { cardTable } from './cards.ts';
import { filterForm } from './filter-form.ts';
import { type Html, html, type Part } from './html.ts';
import { downloadLink, type Known, pageLink, type Query } from './query.ts';
import type { Found } from './search.ts';
import { count, time } from './texts.ts';

/** Enough to tell two digests apart; the CSV has them whole. */
const DIGEST_SHOWN = 12;

const CAPTION = 'Signature records, the latest first; times are in UTC';
const COLUMNS = ['Signed (UTC)', 'Client', 'Certificate', 'File', 'Digest', 'Counted', 'Report'];
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
  const rows = found.records.map((record) => cellsOf(shown(record, byId)));
  return html`
  ${rows.length === 0 ? nothing(found, query, lookedAt) : cardTable(CAPTION, COLUMNS, rows)}
  ${rows.length > 0 && found.stopped && html`<p class="note">${count(lookedAt)} records were looked at for these; there may be more.</p>`}
  ${pager(found, query)}`;
}

function nothing({ stopped }: Found, query: Query, lookedAt: number): Html {
  if (stopped) return html`<p class="empty">None of the ${count(lookedAt)} records looked at fits; others may.</p>`;
  if (isFiltered(query)) return html`<p class="empty">No signature fits the filter.</p>`;
  return html`<p class="empty">Nothing was signed yet.</p>`;
}

/** What a record's row shows, in the order of the columns. */
function cellsOf(record: Shown): readonly Part[] {
  const { signedAt, client, clientName, certificate, algorithm, digest, counted, extra } = record;
  const file = extra?.signing_filename;
  return [
    time(new Date(signedAt)),
    clientName ?? html`<code>${client}</code>`,
    certificate,
    file ? html`<b>${file}</b>` : NOT_GIVEN,
    html`<span class="digest">${algorithm} <code>${digest.slice(0, DIGEST_SHOWN)}…</code></span>`,
    counted ? 'yes' : html`<b>no</b>`,
    reportOf(record),
  ];
}

function reportOf({ report, reportedAt }: Shown): Html {
  if (reportedAt === undefined) return html`<span class="badge none">none</span>`;
  const at = html`<span class="at">${time(new Date(reportedAt))}</span>`;
  return html`<span class="report"><span class="badge ${report}">${report}</span> ${at}</span>`;
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
