/** Signatures per day: bars drawn as SVG for those who see them, and the same numbers as a table for everybody. */

import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Store } from '../records/store.ts';
import { count, counted, DAY, dayOf, type Html, html } from './html.ts';
import { pageLink, type Query, SPANS } from './query.ts';

/** How many days the database adds up before signatures have their turn. */
const AT_A_TIME = 5;

export interface SignedDay {
  /** As in 2030-12-31, UTC. */
  readonly day: string;
  /** Counted ones, by what was reported of them. */
  readonly succeeded: number;
  readonly failed: number;
  readonly none: number;
  /** Those whose answer never went out. */
  readonly uncounted: number;
}

/** The days up to today, oldest first, each of them. */
export async function signedPerDay(
  records: Pick<Store['records'], 'perDay'>,
  days: number,
  now: Date,
): Promise<readonly SignedDay[]> {
  const tomorrow = Math.floor(now.getTime() / DAY) * DAY + DAY;
  const starts = Array.from({ length: days }, (_, index) => tomorrow - (days - index) * DAY);
  const sums = new Map(
    starts.map((start) => [dayOf(new Date(start)), { succeeded: 0, failed: 0, none: 0, uncounted: 0 }]),
  );
  for (let index = 0; index < days; index += AT_A_TIME) {
    const [first = tomorrow, end = tomorrow] = [starts[index], starts[index + AT_A_TIME]];
    for (const { day, counted, report, signatures } of await records.perDay(new Date(first), new Date(end))) {
      const sum = sums.get(day);
      if (sum === undefined) continue;
      if (!counted) sum.uncounted += signatures;
      else if (report === undefined) sum.none += signatures;
      else sum[report === 1 ? 'succeeded' : 'failed'] += signatures;
    }
    await othersTurn();
  }
  return [...sums].map(([day, sum]) => ({ day, ...sum }));
}

/** From the bottom of a bar to its top, with what they are called. */
const PARTS = [
  ['succeeded', 'reported as succeeded'],
  ['failed', 'reported as failed'],
  ['none', 'not reported'],
] as const;

/** What the sums of a section are called, and how large they are. */
interface Sum {
  readonly title: string;
  readonly value: number;
  readonly more: string;
}

export function chartSection(days: readonly SignedDay[], query: Pick<Query, 'fields' | 'days'>): Html {
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  const all = days.reduce((sum, each) => sum + totalOf(each), 0);
  return html`
<section id="days" class="panel" aria-labelledby="days-title">
  <div class="heading">
    <h2 id="days-title">Signatures per day</h2>
    <ul class="choices" aria-label="Days shown">${SPANS.map((span) => choice(span, query))}</ul>
  </div>
  <dl class="sums">${sumsOf(days).map(({ title, value, more }) => html`<div><dt>${title}</dt><dd><b>${count(value)}</b> <span>${more}</span></dd></div>`)}</dl>
  ${all === 0 ? html`<p class="empty">Nothing was signed from ${first} to ${last} (UTC).</p>` : drawing(days, all)}
  <details>
    <summary>The numbers of each day</summary>
    ${table(days)}
  </details>
</section>`;
}

function choice(span: (typeof SPANS)[number], query: Pick<Query, 'fields' | 'days'>): Html {
  const current = span === query.days && html` aria-current="true"`;
  return html`<li><a href="${pageLink(query, { days: span }, 'days')}"${current}>${span} days</a></li>`;
}

function sumsOf(days: readonly SignedDay[]): readonly Sum[] {
  const over = (value: (day: SignedDay) => number) => days.reduce((sum, day) => sum + value(day), 0);
  const uncounted = over((day) => day.uncounted);
  const all = over(totalOf);
  const span = `in ${days.length} days`;
  const share = (part: number) => (all === 0 ? 'of none' : `${Math.round((100 * part) / all)} % of all`);
  const today = days.at(-1);
  return [
    { title: 'Today', value: today === undefined ? 0 : totalOf(today), more: 'since midnight UTC' },
    { title: 'Signatures', value: all, more: uncounted === 0 ? span : `${span}, and ${count(uncounted)} not counted` },
    { title: 'Reported as failed', value: over((day) => day.failed), more: share(over((day) => day.failed)) },
    { title: 'Not reported', value: over((day) => day.none), more: share(over((day) => day.none)) },
  ];
}

/** One unit is a day to the right, and one signature upwards; the style sheet gives the picture its size. */
function drawing(days: readonly SignedDay[], all: number): Html {
  const most = days.reduce((largest, day) => Math.max(largest, totalOf(day)), 0);
  const top = roundedUp(most);
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  const busiest = days.find((day) => totalOf(day) === most);
  const text = `Bars: ${counted(all, 'signature')} from ${first} to ${last}, at most ${count(most)} on one day (${busiest?.day}).`;
  const middle = days[Math.floor(days.length / 2)]?.day ?? '';
  return html`
  <figure>
    <figcaption>Counted signatures by what clients reported of them; days are days in UTC.</figcaption>
    <ul class="legend">${PARTS.map(([part, name]) => html`<li><svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect class="${part}" width="1" height="1"/></svg>${name}</li>`)}</ul>
    <div class="chart">
      <div class="scale" aria-hidden="true"><span>${count(top)}</span><span>${count(top / 2)}</span><span>0</span></div>
      <svg class="bars" viewBox="0 0 ${days.length} ${top}" preserveAspectRatio="none" role="img" aria-label="${text}">
        ${[0, top / 2, top].map((y) => html`<path class="line" d="M0 ${y}H${days.length}"/>`)}
        ${days.map((day, index) => bar(day, index, top))}
      </svg>
      <div class="dates" aria-hidden="true"><span>${first}</span><span>${middle}</span><span>${last}</span></div>
    </div>
  </figure>`;
}

function bar(day: SignedDay, index: number, top: number): Html {
  let y = top;
  const parts = PARTS.map(([part]) => {
    const height = day[part];
    y -= height;
    return height > 0 && html`<rect class="${part}" x="${index + 0.12}" y="${y}" width="0.76" height="${height}"/>`;
  });
  const said = PARTS.map(([part, name]) => `${count(day[part])} ${name}`).join(', ');
  return html`<g><title>${day.day}: ${said}</title><rect class="day" x="${index}" y="0" width="1" height="${top}"/>${parts}</g>`;
}

function table(days: readonly SignedDay[]): Html {
  const shown = days.filter((day) => totalOf(day) + day.uncounted > 0).toReversed();
  if (shown.length === 0) return html`<p class="empty">No signatures.</p>`;
  return html`
    <div class="scroll" role="region" aria-labelledby="numbers-title" tabindex="0">
    <table class="numbers">
      <caption id="numbers-title">Days with signatures, latest first</caption>
      <thead><tr><th scope="col">Day (UTC)</th><th scope="col">Succeeded</th><th scope="col">Failed</th><th scope="col">Not reported</th><th scope="col">Counted in all</th><th scope="col">Not counted</th></tr></thead>
      <tbody>${shown.map(
        (day) =>
          html`<tr><th scope="row">${day.day}</th><td>${count(day.succeeded)}</td><td>${count(day.failed)}</td><td>${count(day.none)}</td><td>${count(totalOf(day))}</td><td>${count(day.uncounted)}</td></tr>
`,
      )}</tbody>
    </table>
    </div>`;
}

function totalOf({ succeeded, failed, none }: SignedDay): number {
  return succeeded + failed + none;
}

/** The top of the scale: 2, 4, 6, 8, 10, 20, 40, …: its half is a whole number too. */
function roundedUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  const factor = [1, 2, 4, 6, 8, 10].find((each) => most <= each * power) ?? 10;
  return Math.max(2, factor * power);
}
