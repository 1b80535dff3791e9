/** A terminal's screen: what is to be read on it after a program has written, with lines that wrap and a cursor that moves. */

interface Row {
  readonly cells: string[];
  readonly colours: string[];
  isWrapped: boolean;
}

const ESCAPE = '\x1b';
const BELL = '\x07';
/** ECMA-48's control sequences, and whatever stands for itself. */
const PIECE = new RegExp(`${ESCAPE}\\[([?\\d;]*)([@-~])|${BELL}|[^${ESCAPE}]`, 'gu');
const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
const COLOURS: Readonly<Record<string, string>> = { 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan', 39: '', 0: '' };

/**
 * The lines from the first one ever written to the last, without spaces at their ends; what was written as one line and
 * wrapped is one. Colours are shown by their names: `{green}signed{/}`. With `columns` 0, lines never wrap. Throws on a
 * control sequence that it does not know.
 */
export function readScreen(printed: string, columns: number): readonly string[] {
  const rows: Row[] = [];
  let row = 0;
  let column = 0;
  let colour = '';

  const current = (): Row => {
    while (rows.length <= row) rows.push({ cells: [], colours: [], isWrapped: false });
    return rows[row] as Row;
  };

  function put(character: string): void {
    const width = WIDE.test(character) ? 2 : 1;
    // At the margin the cursor waits, and only the next character continues to the next row.
    if (columns > 0 && column + width > columns) {
      current().isWrapped = true;
      row += 1;
      column = 0;
    }
    const { cells, colours } = current();
    while (cells.length < column) cells.push(' ');
    cells[column] = character;
    colours[column] = colour;
    if (width === 2) cells[column + 1] = '';
    column += width;
  }

  function erase(how: number): void {
    const line = current();
    if (how === 0) line.cells.length = Math.min(line.cells.length, column);
    else if (how === 1) line.cells.fill(' ', 0, column + 1);
    else line.cells.length = 0;
    line.isWrapped = false;
  }

  function control(parameters: string, final: string): void {
    const count = Number(parameters.split(';')[0] || '0');
    const unknown = new Error(`the screen does not know ESC [ ${parameters}${final}`);
    if (final === 'A') row = Math.max(0, row - Math.max(1, count));
    else if (final === 'G') column = Math.max(1, count) - 1;
    else if (final === 'K') erase(count);
    else if (final === 'm' && parameters in COLOURS) colour = COLOURS[parameters] ?? '';
    // Synchronized output: nothing to see.
    else if (!['?2026h', '?2026l'].includes(parameters + final)) throw unknown;
  }

  for (const [piece, parameters = '', final] of printed.matchAll(PIECE)) {
    if (final !== undefined) control(parameters, final);
    else if (piece === '\r') column = 0;
    else if (piece === '\n') row += 1;
    else if (piece === '\b') column = Math.max(0, column - 1);
    else if (piece !== BELL) put(piece);
  }
  const lines: string[] = [];
  let goesOn = false;
  for (const line of rows) {
    const text = shown(line);
    if (goesOn) lines.push((lines.pop() ?? '') + text);
    else lines.push(text);
    goesOn = line.isWrapped;
  }
  const read = lines.map((line) => line.trimEnd());
  while (read.at(-1) === '') read.pop();
  return read;
}

function shown({ cells, colours }: Row): string {
  let text = '';
  let last = '';
  for (const [index, cell] of cells.entries()) {
    const next = colours[index] ?? '';
    if (next !== last) text += (last === '' ? '' : '{/}') + (next === '' ? '' : `{${next}}`);
    text += cell;
    last = next;
  }
  return last === '' ? text : `${text}{/}`;
}
