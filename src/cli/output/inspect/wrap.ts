/** Text laid out in 80 columns: lines of a name and a value, the value wrapped below itself. */

import { graphemesOf, widthOf, widthOfGrapheme } from '../terminal-width.ts';

/** Columns of a line of output. */
export const COLUMNS = 80;

/**
 * `name`, padded to `nameColumns`, and `value` behind it; all at `indent`. Behind a longer name, and with a word too long for
 * that place, such as a digest, the value starts on a line of its own; words are broken where even that is too short.
 */
export function field(name: string, value: string, indent: number, nameColumns: number): string[] {
  const lead = `${' '.repeat(indent)}${name.padEnd(nameColumns - 2)}  `;
  const longest = value.split(' ').reduce((columns, word) => Math.max(columns, widthOf(word, COLUMNS)), 0);
  const fits = widthOf(name) <= nameColumns - 2 && widthOf(lead) + longest <= COLUMNS;
  if (fits) return hang(lead, value, widthOf(lead));
  return [...paragraph(name, indent), ...paragraph(value, indent + 2)];
}

/** `text` at `indent`, wrapped there. */
export function paragraph(text: string, indent: number): string[] {
  return hang(' '.repeat(indent), text, indent);
}

/** `lead` and `text` behind it; further lines begin at `indent`. */
export function hang(lead: string, text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = lead;
  let columns = widthOf(lead);
  let isEmpty = true;
  const add = (addition: string, width: number): void => {
    line += addition;
    columns += width;
    isEmpty = false;
  };
  const end = (): void => {
    lines.push(line.trimEnd());
    line = ' '.repeat(indent);
    columns = indent;
    isEmpty = true;
  };
  for (const word of text.split(' ')) {
    const width = widthOf(word, COLUMNS);
    if (!isEmpty && columns + 1 + width > COLUMNS) end();
    if (!isEmpty) add(' ', 1);
    if (columns + width <= COLUMNS) add(word, width);
    else {
      for (const { segment } of graphemesOf(word)) {
        const more = widthOfGrapheme(segment);
        if (columns + more > COLUMNS) end();
        add(segment, more);
      }
    }
  }
  end();
  return lines;
}
