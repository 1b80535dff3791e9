/** A table that the style sheet makes a list of cards where it would not fit; its roles keep it a table for those who hear it. */

import { type Html, html, type Part } from './html.ts';

/** @param caption above the table @param rows as many cells each as there are columns; the first one names its row */
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
