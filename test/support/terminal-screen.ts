/** A terminal's screen: what is to be read on it after a program has written, with lines that wrap and a cursor that moves. */

export interface Screen {
  write(text: string): void;
  /** From the first line ever written to the last, without blanks at their ends. */
  lines(): readonly string[];
}

const ESCAPE = '\x1b';
const BELL = '\x07';

/** What is understood: ECMA-48's cursor movements and erasing, colours (dropped), synchronized output (dropped). */
const PIECE = new RegExp(`${ESCAPE}\\[([?\\d;]*)([@-~])|${BELL}|[^${ESCAPE}]`, 'gu');
/** Sequences that have not come whole. */
const BEGUN = new RegExp(`${ESCAPE}(?:\\[[?\\d;]*)?$`);

/** `columns` 0: lines never wrap. */
export function createScreen(columns: number): Screen {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  let pending = '';

  const current = (): string[] => {
    while (rows.length <= row) rows.push([]);
    return rows[row] ?? [];
  };

  function put(character: string): void {
    const width = WIDE.test(character) ? 2 : 1;
    // At the margin the cursor waits, and only the next character goes on to the next line.
    if (columns > 0 && column + width > columns) {
      row += 1;
      column = 0;
    }
    const line = current();
    while (line.length < column) line.push(' ');
    line[column] = character;
    if (width === 2) line[column + 1] = '';
    column += width;
  }

  function control(parameters: string, final: string): void {
    const count = Number(parameters.split(';')[0] || '0');
    switch (final) {
      case 'A':
        row = Math.max(0, row - Math.max(1, count));
        break;
      case 'G':
        column = Math.max(1, count) - 1;
        break;
      case 'K':
        if (count === 0) current().length = Math.min(current().length, column);
        else if (count === 1) current().fill(' ', 0, column + 1);
        else current().length = 0;
        break;
      case 'J':
        current().length = Math.min(current().length, column);
        rows.length = row + 1;
        break;
      case 'm':
      case 'h':
      case 'l':
        break;
      default:
        throw new Error(`the screen does not know ESC [ ${parameters}${final}`);
    }
  }

  return {
    write(text) {
      const whole = pending + text;
      // An escape sequence may come in two parts.
      const cut = BEGUN.exec(whole)?.index ?? whole.length;
      pending = whole.slice(cut);
      for (const [piece, parameters = '', final] of whole.slice(0, cut).matchAll(PIECE)) {
        if (final !== undefined) control(parameters, final);
        else if (piece === '\r') column = 0;
        else if (piece === '\n') row += 1;
        else if (piece === '\b') column = Math.max(0, column - 1);
        else if (piece !== BELL) put(piece);
      }
    },
    lines() {
      const read = rows.map((line) => line.join('').trimEnd());
      while (read.at(-1) === '') read.pop();
      return read;
    },
  };
}

const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
