/** The page's table of clients: what each has used of its quota. */

import type { Client } from '../records/store.ts';
import { cardTable } from './cards.ts';
import { type Html, html } from './html.ts';
import { count, counted, day } from './texts.ts';

/** From this part on a quota is shown as nearly used up. */
const NEARLY = 0.9;

const NO_NAME = html`<span class="quiet">no name</span>`;

export function clientsSection(clients: readonly Client[], now: Date, most: number): Html {
  const byUse = clients.toSorted((a, b) => usedOf(b) - usedOf(a) || b.signatures - a.signatures);
  const left = clients.length - most;
  return html`
<section id="clients" class="panel" aria-labelledby="clients-title">
  <h2 id="clients-title">Quotas</h2>
  ${clients.length === 0 ? html`<p class="empty">There is no client yet: <code>client add</code> adds one.</p>` : table(byUse.slice(0, most), now)}
  ${left > 0 && html`<p class="note">${counted(left, 'client')} with less used are not shown; <code>quota</code> shows them all.</p>`}
</section>`;
}

function table(clients: readonly Client[], now: Date): Html {
  const rows = clients.map((client) => [
    client.name ?? NO_NAME,
    html`<code>${client.accessKey}</code>`,
    stateOf(client, now),
    quotaOf(client),
  ]);
  const caption = 'Clients and what they have used of their quotas, the most used first';
  return cardTable(caption, ['Client', 'Access key', 'State', 'Used'], rows);
}

function stateOf({ disabled, handedOver, expiresAt }: Client, now: Date): Html {
  if (disabled) return html`<span class="badge over">disabled</span>`;
  if (!handedOver) return html`<span class="badge soon">not handed over</span>`;
  if (expiresAt === undefined) return html`<span class="badge valid">active</span>`;
  if (now < expiresAt) return html`<span class="badge valid">active</span> until ${day(expiresAt)}`;
  return html`<span class="badge over">expired</span> ${day(expiresAt)}`;
}

function quotaOf({ signatures, reserved, quota }: Client): Html {
  const underWay = reserved > 0 && ` and ${count(reserved)} under way`;
  if (quota === undefined) return html`${counted(signatures, 'signature')}${underWay}, without a bound`;
  const used = signatures + reserved;
  const left = Math.max(0, quota - used);
  const part = quota === 0 ? 1 : Math.min(1, used / quota);
  const percent = Math.floor(100 * part);
  const state = left === 0 ? 'over' : part >= NEARLY ? 'soon' : 'valid';
  const word = left === 0 ? html`<span class="badge over">used up</span>` : `${count(left)} left`;
  return html`<svg class="quota ${state}" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="${percent} % used"><rect class="all" width="100" height="1"/><rect class="used" width="${Math.round(10_000 * part) / 100}" height="1"/></svg>
<span>${count(signatures)}${underWay} of ${count(quota)} (${percent} %), ${word}</span>`;
}

/** What part of its quota a client has used; none where there is no bound. */
function usedOf({ signatures, reserved, quota }: Client): number {
  if (quota === undefined) return -1;
  return quota === 0 ? 1 : (signatures + reserved) / quota;
}
