/** The form that says which records to show: it works without scripts, and its answer is an address to keep. */

import { type Html, html, verbatim } from './html.ts';
import { type Field, type Known, PAGE_ANCHOR, pageLink, type Query, type REPORTS, SPANS } from './query.ts';

/** More clients or certificates than this are not a list to choose from. */
const CHOICES = 200;

const REPORT_NAMES: Readonly<Record<keyof typeof REPORTS, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  none: 'none yet',
};

type Choice = readonly [value: string, name: string];

export function filterForm(query: Query, { clients, certificates }: Known): Html {
  const { fields, days, problems } = query;
  const named = clients.map(
    ({ accessKey, name }): Choice => [accessKey, name === undefined ? accessKey : `${name} (${accessKey})`],
  );
  const numbers = certificates.map(({ number }): Choice => [number, number]);
  const reports = Object.entries(REPORT_NAMES);
  return html`
  ${problems.length > 0 && html`<div class="problems" role="alert"><p>This filter cannot be used:</p><ul>${problems.map((problem) => html`<li>${problem}</li>`)}</ul></div>`}
  <form class="filter" method="get" action="${PAGE_ANCHOR}" aria-label="Filter">
    ${chosen('client', 'Client', named, fields)}
    ${chosen('certificate', 'Certificate', numbers, fields)}
    ${chosen('report', 'Report', reports, fields)}
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
