/** The page's tables of certificates, with how long each is valid, and of clients, with what each has used of its quota. */

import { X509Certificate } from 'node:crypto';
import type { Client, StoredCertificate } from '../records/rows.ts';
import { count, counted, DAY, day, duration, type Html, html, type Part } from './html.ts';

/** From then on a certificate is shown as one that ends soon: a CA may take weeks for the next one. */
const SOON = 30 * DAY;
/** From this part on a quota is shown as nearly used up. */
const NEARLY = 0.9;

const NO_NAME = html`<span class="quiet">no name</span>`;

/**
 * A table that the style sheet turns into a list of cards on narrow windows; its roles keep it a table for screen readers.
 * @param rows as many cells each as there are columns; the first one names its row
 */
export function cardTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Part[])[],
  kind: 'cards' | 'cards records' = 'cards',
): Html {
  return html`
  <table class="${kind}" role="table">
    <caption>${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
    <tbody role="rowgroup">
${rows.map(([first, ...rest]) => {
  const cells = rest.map(
    (cell, index) => html`<td role="cell" data-label="${columns[index + 1]}"><div>${cell}</div></td>`,
  );
  return html`<tr role="row"><th role="rowheader" scope="row" data-label="${columns[0]}"><div>${first}</div></th>${cells}</tr>
`;
})}</tbody>
  </table>`;
}

export function certificatesSection(certificates: readonly StoredCertificate[], now: Date, most: number): Html {
  // What is over already has nothing left to be done about.
  const isOver = ({ notAfter }: StoredCertificate) => Number(notAfter < now);
  const byEnd = certificates.toSorted((a, b) => isOver(a) - isOver(b) || a.notAfter.getTime() - b.notAfter.getTime());
  const left = certificates.length - most;
  return html`
<section id="certificates" class="panel" aria-labelledby="certificates-title">
  <h2 id="certificates-title">Certificates</h2>
  ${certificates.length === 0 ? html`<p class="empty">There is no certificate yet: <code>certificate add</code> creates one.</p>` : certificateTable(byEnd.slice(0, most), now)}
  ${left > 0 && html`<p class="note">${count(left)} that end later are not shown; <code>certificate list</code> shows them all.</p>`}
</section>`;
}

function certificateTable(certificates: readonly StoredCertificate[], now: Date): Html {
  const columns = ['Number', 'Issued to', 'Key', 'Valid from', 'Valid until', 'State'];
  const rows = certificates.map(({ number, chain, notBefore, notAfter, disabled }) => {
    const { name, key } = readLeaf(chain);
    const { state, word, left } = validityAt(now, notBefore, notAfter);
    const off = disabled && html`<span class="badge over">disabled</span> `;
    const badge = html`${off}<span class="badge ${state}">${word}</span> ${left}`;
    return [number, name, key, day(notBefore), day(notAfter), badge];
  });
  return cardTable('Code-signing certificates, the next to end first; days are in UTC', columns, rows);
}

function validityAt(now: Date, notBefore: Date, notAfter: Date) {
  const left = notAfter.getTime() - now.getTime();
  const later = notBefore.getTime() - now.getTime();
  if (left < 0) return { state: 'over', word: 'expired', left: `${duration(-left)} ago` };
  if (later > 0) return { state: 'soon', word: 'not valid yet', left: `${duration(later)} to go` };
  if (left < SOON) return { state: 'soon', word: 'ends soon', left: `${duration(left)} left` };
  return { state: 'valid', word: 'valid', left: `${duration(left)} left` };
}

/** A chain that cannot be read must not hide the others. */
function readLeaf(chain: string): { readonly name: string; readonly key: string } {
  try {
    const { subject, publicKey } = new X509Certificate(chain);
    const name = /^CN=(.*)$/m.exec(subject ?? '')?.[1] ?? subject ?? '';
    return { name, key: `RSA ${publicKey.asymmetricKeyDetails?.modulusLength ?? ''}` };
  } catch {
    return { name: 'cannot be read', key: '' };
  }
}

export function clientsSection(clients: readonly Client[], now: Date, most: number): Html {
  const byUse = clients.toSorted((a, b) => usedOf(b) - usedOf(a) || b.signatures - a.signatures);
  const left = clients.length - most;
  return html`
<section id="clients" class="panel" aria-labelledby="clients-title">
  <h2 id="clients-title">Quotas</h2>
  ${clients.length === 0 ? html`<p class="empty">There is no client yet: <code>client add</code> adds one.</p>` : clientTable(byUse.slice(0, most), now)}
  ${left > 0 && html`<p class="note">${counted(left, 'client')} with less used are not shown; <code>quota</code> shows them all.</p>`}
</section>`;
}

function clientTable(clients: readonly Client[], now: Date): Html {
  const rows = clients.map((client) => [
    client.name ?? NO_NAME,
    html`<code>${client.accessKey}</code>`,
    stateOf(client, now),
    quotaOf(client),
  ]);
  const caption = 'Clients and what they have used of their quotas, the most used first';
  return cardTable(caption, ['Client', 'Access key', 'State', 'Used'], rows);
}

function stateOf({ disabled, expiresAt }: Client, now: Date): Html {
  if (disabled) return html`<span class="badge over">disabled</span>`;
  if (expiresAt === undefined) return html`<span class="badge valid">active</span>`;
  if (now < expiresAt) return html`<span class="badge valid">active</span> until ${day(expiresAt)}`;
  return html`<span class="badge over">expired</span> ${day(expiresAt)}`;
}

function quotaOf({ signatures, quota }: Client): Html {
  if (quota === undefined) return html`${counted(signatures, 'signature')}, without a bound`;
  const left = Math.max(0, quota - signatures);
  const part = quota === 0 ? 1 : Math.min(1, signatures / quota);
  const percent = Math.floor(100 * part);
  const state = left === 0 ? 'over' : part >= NEARLY ? 'soon' : 'valid';
  const word = left === 0 ? html`<span class="badge over">used up</span>` : `${count(left)} left`;
  return html`<svg class="quota ${state}" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="${percent} % used"><rect class="all" width="100" height="1"/><rect class="used" width="${Math.round(10_000 * part) / 100}" height="1"/></svg>
<span>${count(signatures)} of ${count(quota)} (${percent} %), ${word}</span>`;
}

/** Which part of its quota a client has used; empty if the quota is unlimited. */
function usedOf({ signatures, quota }: Client): number {
  if (quota === undefined) return -1;
  return quota === 0 ? 1 : signatures / quota;
}
