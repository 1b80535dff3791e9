/** The settings as lines for people. */

import { printable } from '../../errors/printable.ts';
import type { ListedSetting } from '../../options/listing.ts';

/** Longer than any path or address. */
const VALUE_LENGTH = 8192;

/** A line for each value: key, value, and who says so. */
export function settingLines(settings: readonly ListedSetting[], hasOrigin: boolean): readonly string[] {
  const rows = settings.flatMap(({ key, values, origin }) =>
    values.map((value) => ({ key: shownValue(key), value: shownValue(value), origin })),
  );
  const keyWidth = widest(rows.map(({ key }) => key));
  const originWidth = widest(rows.map(({ origin }) => origin));
  return rows.map(({ key, value, origin }) => {
    const from = hasOrigin ? `${origin.padEnd(originWidth)}  ` : '';
    return `${from}${key.padEnd(keyWidth)}  ${value}`;
  });
}

export function shownValue(text: string): string {
  return printable(text, VALUE_LENGTH);
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, text.length), 0);
}
