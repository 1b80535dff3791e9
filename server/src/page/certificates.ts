/** The page's table of certificates: how long each is valid still. */

import { X509Certificate } from 'node:crypto';
import type { StoredCertificate } from '../records/store.ts';
import { cardTable } from './cards.ts';
import { type Html, html } from './html.ts';
import { count, DAY, day, duration } from './texts.ts';

/** From then on a certificate is shown as one that ends soon: a CA may take weeks for the next one. */
const SOON = 30 * DAY;

interface Validity {
  readonly state: 'valid' | 'soon' | 'over';
  readonly word: string;
  readonly left: string;
}

export function certificatesSection(certificates: readonly StoredCertificate[], now: Date, most: number): Html {
  // What is over already has nothing left to be done about.
  const isOver = ({ notAfter }: StoredCertificate) => Number(notAfter < now);
  const byEnd = certificates.toSorted((a, b) => isOver(a) - isOver(b) || a.notAfter.getTime() - b.notAfter.getTime());
  const left = certificates.length - most;
  return html`
<section id="certificates" class="panel" aria-labelledby="certificates-title">
  <h2 id="certificates-title">Certificates</h2>
  ${certificates.length === 0 ? html`<p class="empty">There is none yet: <code>certificate add</code> makes one.</p>` : table(byEnd.slice(0, most), now)}
  ${left > 0 && html`<p class="note">${count(left)} that end later are not shown; <code>certificate list</code> shows them all.</p>`}
</section>`;
}

function table(certificates: readonly StoredCertificate[], now: Date): Html {
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

function validityAt(now: Date, notBefore: Date, notAfter: Date): Validity {
  const left = notAfter.getTime() - now.getTime();
  const later = notBefore.getTime() - now.getTime();
  if (left < 0) return { state: 'over', word: 'expired', left: `${duration(-left)} ago` };
  if (later > 0) return { state: 'soon', word: 'not valid yet', left: `${duration(later)} to go` };
  if (left < SOON) return { state: 'soon', word: 'ends soon', left: `${duration(left)} left` };
  return { state: 'valid', word: 'valid', left: `${duration(left)} left` };
}

/** A chain that cannot be read is no reason to show nothing of all the others. */
function readLeaf(chain: string): { readonly name: string; readonly key: string } {
  try {
    const { subject, publicKey } = new X509Certificate(chain);
    const name = /^CN=(.*)$/m.exec(subject ?? '')?.[1] ?? subject ?? '';
    return { name, key: `RSA ${publicKey.asymmetricKeyDetails?.modulusLength ?? ''}` };
  } catch {
    return { name: 'cannot be read', key: '' };
  }
}
