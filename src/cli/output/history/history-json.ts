/** The JSON document of `history --json`, written entry by entry: its shape is fixed, scripts read it. */

import type { HistoryEntry } from '../../../journal/journal.ts';
import { jsonText } from '../json.ts';
import type { HistoryForm } from './history-form.ts';

export const historyJson: HistoryForm = {
  head: '{\n  "calls": [\n',
  first: (entry) => indented(entryJson(entry)),
  next: (entry) => `,\n${indented(entryJson(entry))}`,
  tail: (sums) => `\n  ],\n  "sums": [\n${sums.map(indented).join(',\n')}\n  ]\n}\n`,
  empty: jsonText({ calls: [], sums: [] }),
};

function entryJson({ at, ended, id, digest, record, reported, reason, ...entry }: HistoryEntry) {
  // Digests are shown to nobody as a whole.
  const masked = `${digest.slice(0, 4)}…${digest.slice(-4)}`;
  const told = { record: record ?? null, reported: reported ?? null, reason: reason ?? null };
  return { id, at, ended: ended ?? null, ...entry, digest: masked, ...told };
}

function indented(value: object): string {
  return jsonText(value).trimEnd().replace(/^/gm, '    ');
}
