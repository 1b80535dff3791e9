import { X509Certificate } from 'node:crypto';
import { type Client, isDisabled, quotasOf, type SignatureRecord, type StoredCertificate } from '../records/rows.ts';
import { shown } from '../records/shown.ts';
import { count, type Html, html, type Part, short, time } from './html.ts';

const DAY = 24 * 60 * 60 * 1000;
/** A CA may take weeks to issue a new certificate. */
const SOON = 30 * DAY;
const ROWS_SHOWN = 200;

export function clientsSection(clients: readonly Client[], now: Date): Html {
  const partOf = (client: Client) =>
    quotasOf(client)
      .map(partUsed)
      .reduce((one, other) => Math.max(one, other));
  const byUse = clients.toSorted((a, b) => partOf(b) - partOf(a) || b.signatures - a.signatures);
  const rows = byUse
    .slice(0, ROWS_SHOWN)
    .map((client) => [
      short(client.name ?? ''),
      ...quotasOf(client).map(usePart),
      clientState(client, now),
      count(client.signatures),
      html`<code>${client.accessKey}</code>`,
    ]);
  const columns = ['Name', 'Quota', 'Monthly quota', 'State', 'Signatures', 'Access key'];
  return section('clients', 'Clients', columns, rows, clients.length);
}

export function callsSection(records: readonly SignatureRecord[], clients: readonly Client[]): Html {
  const byId = new Map(clients.map((client) => [client.id, client]));
  const rows = records
    .map((record) => shown(record, byId))
    .map(({ signedAt, client, clientName, certificate, extra, counted, report }) => [
      time(new Date(signedAt)),
      short(extra?.signing_filename ?? ''),
      short(clientName ?? client),
      certificate,
      counted ? report : html`<mark>not counted</mark>`,
    ]);
  const columns = ['Signed (UTC)', 'File', 'Client', 'Certificate', 'Report'];
  return section('calls', 'Latest signatures', columns, rows, records.length);
}

export function certificatesSection(certificates: readonly StoredCertificate[], now: Date): Html {
  const hasEnded = ({ notAfter }: StoredCertificate) => Number(notAfter < now);
  const byEnd = certificates.toSorted(
    (a, b) => hasEnded(a) - hasEnded(b) || a.notAfter.getTime() - b.notAfter.getTime(),
  );
  const rows = byEnd
    .slice(0, ROWS_SHOWN)
    .map((certificate) => [
      certificate.number,
      short(subjectOf(certificate)),
      time(certificate.notAfter, 10),
      certificateState(certificate, now),
    ]);
  const columns = ['Number', 'Issued to', 'Valid until (UTC)', 'State'];
  return section('certificates', 'Certificates', columns, rows, certificates.length);
}

/** A figure scrolls a wide table sideways. With `tabindex`, the figure also scrolls with the keyboard. */
function section(
  id: string,
  title: string,
  columns: readonly string[],
  rows: readonly (readonly Part[])[],
  total: number,
): Html {
  if (rows.length === 0) return html`<section><h2 id="${id}">${title}</h2><p>None yet.</p></section>`;
  const headings = columns.map((name) => html`<th scope="col">${name}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`);
  const omitted = count(total - rows.length);
  const note = total > rows.length && html`<p>${omitted} more are not shown; the commands list them all.</p>`;
  return html`
<section>
<h2 id="${id}">${title}</h2>
<figure role="region" aria-labelledby="${id}" tabindex="0"><table>
<thead><tr>${headings}</tr></thead>
<tbody>${body}</tbody>
</table></figure>
${note}
</section>`;
}

function clientState({ disabled, expiresAt }: Client, now: Date): Part {
  if (disabled) return html`<mark>disabled</mark>`;
  if (expiresAt === undefined) return 'active';
  return now < expiresAt
    ? html`active until ${time(expiresAt, 10)}`
    : html`<mark>expired</mark> ${time(expiresAt, 10)}`;
}

type Use = Pick<ReturnType<typeof quotasOf>[number], 'used' | 'quota' | 'left'>;

function usePart(use: Use): Part {
  const { quota, left = 0 } = use;
  if (quota === undefined) return 'none';
  const part = partUsed(use);
  return html`<meter value="${part.toFixed(3)}" high="0.9" optimum="0" aria-label="${Math.floor(100 * part)} % used"></meter>
${left === 0 ? html`<mark>used up</mark>` : `${count(left)} left`} of ${count(quota)}`;
}

/** Returns the used fraction of the quota (0 to 1), or -1 if there is no quota. */
function partUsed({ used, quota }: Use): number {
  if (quota === undefined) return -1;
  return quota === 0 ? 1 : Math.min(1, used / quota);
}

function certificateState(certificate: StoredCertificate, now: Date): Part {
  const { notBefore, notAfter, enabledUntil } = certificate;
  const left = notAfter.getTime() - now.getTime();
  const days = Math.floor(Math.abs(left) / DAY);
  if (isDisabled(certificate, now)) return html`<mark>disabled</mark>`;
  if (left < 0) return html`<mark>expired</mark> ${days} days ago`;
  if (now < notBefore) return html`<mark>not valid yet</mark>`;
  if (enabledUntil !== undefined) return html`enabled until ${time(enabledUntil)}`;
  return left < SOON ? html`<mark>ends soon</mark> ${days} days left` : `${count(days)} days left`;
}

/** One unreadable chain must not hide the other certificates. */
function subjectOf({ chain }: StoredCertificate): string {
  try {
    const { subject } = new X509Certificate(chain);
    return /^CN=(.*)$/m.exec(subject ?? '')?.[1] ?? subject ?? '';
  } catch {
    return 'cannot be read';
  }
}
