/** Text laid out in 80 columns: lines of a name and a value, the value wrapped below itself. */

/** What a terminal shows in a line, if nobody made it wider. */
export const COLUMNS = 80;

/** Drawn over two columns: East Asian wide and full-width characters, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Drawn over the character before them. */
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d\u2060\ufeff]/u;

/** How many columns the text takes; it is printable already. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/**
 * `name`, padded to `nameColumns`, and `value` behind it; all at `indent`. Behind a longer name, and with a word too long for
 * that place, such as a digest, the value starts on a line of its own; words are broken where even that is too short.
 */
export function field(name: string, value: string, indent: number, nameColumns: number): string[] {
  const lead = `${' '.repeat(indent)}${name.padEnd(nameColumns - 2)}  `;
  const longest = value.split(' ').reduce((columns, word) => Math.max(columns, columnsOf(word)), 0);
  const fits = columnsOf(name) <= nameColumns - 2 && columnsOf(lead) + longest <= COLUMNS;
  if (fits) return hang(lead, value, columnsOf(lead));
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
  let columns = columnsOf(lead);
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
    const width = columnsOf(word);
    if (!isEmpty && columns + 1 + width > COLUMNS) end();
    if (!isEmpty) add(' ', 1);
    if (columns + width <= COLUMNS) add(word, width);
    else {
      for (const character of word) {
        if (columns + widthOf(character) > COLUMNS) end();
        add(character, widthOf(character));
      }
    }
  }
  end();
  return lines;
}

function widthOf(character: string): number {
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
