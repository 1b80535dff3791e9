/** Widths are counted in terminal columns. `text` must be printable. */

import { eastAsianWidth } from 'get-east-asian-width';

const ASCII = /^[ -~]*$/;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f)/u;
/** Combining marks are drawn over the character before them, and format characters are not drawn. */
const WITHOUT_WIDTH = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Format}]+$/u;
const COLUMNS = 80;

/** Counts grapheme clusters (Unicode Annexes 11 and 29). `limit` bounds the time for a hostile name. */
export function widthOf(text: string, limit = Number.POSITIVE_INFINITY): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += widthOfGrapheme(segment);
    if (width > limit) break;
  }
  return width;
}

export function fitted(text: string, columns: number, ellipsis: string): string {
  if (widthOf(text, columns) <= columns) return text;
  const limit = columns - widthOf(ellipsis);
  let kept = '';
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += widthOfGrapheme(segment);
    if (width > limit) break;
    kept += segment;
  }
  return limit < 0 ? '' : kept + ellipsis;
}

export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text, columns)));
}

/**
 * Formats `name value`. The value starts on the next line if the name is too long, or if a word of the value, such as a
 * digest, does not fit.
 */
export function field(name: string, value: string, indent: number, nameColumns: number): string[] {
  const lead = `${' '.repeat(indent)}${padded(name, nameColumns - 2)}  `;
  const longest = value.split(' ').reduce((columns, word) => Math.max(columns, widthOf(word, COLUMNS)), 0);
  const fits = widthOf(name) <= nameColumns - 2 && widthOf(lead) + longest <= COLUMNS;
  if (fits) return hang(lead, value, widthOf(lead));
  return [...paragraph(name, indent), ...paragraph(value, indent + 2)];
}

export function paragraph(text: string, indent: number): string[] {
  return hang(' '.repeat(indent), text, indent);
}

/** Indents further lines. Splits a word that is longer than a line. */
export function hang(lead: string, text: string, indent: number, mostColumns = COLUMNS): string[] {
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
    const width = widthOf(word, mostColumns);
    if (!isEmpty && columns + 1 + width > mostColumns) end();
    if (!isEmpty) add(' ', 1);
    if (columns + width <= mostColumns) add(word, width);
    else {
      for (const { segment } of graphemesOf(word)) {
        const more = widthOfGrapheme(segment);
        if (columns + more > mostColumns) end();
        add(segment, more);
      }
    }
  }
  end();
  return lines;
}

/**
 * Aligns continuation lines with the text of the first line, which begins after the indent or after a word such as
 * `failed `. Does not split long words, such as paths: users copy them.
 */
export function wrapped(text: string, mostColumns: number): string[] {
  if (mostColumns === Number.POSITIVE_INFINITY) return [text];
  const [lead = ''] = /^(?: +|[\w-]+ {2,})?/.exec(text) ?? [];
  const lines: string[] = [];
  let line = lead;
  let isEmpty = true;
  for (const word of text.slice(lead.length).split(' ')) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (isEmpty || widthOf(longer, mostColumns) <= mostColumns) line = longer;
    else {
      lines.push(line.trimEnd());
      line = ' '.repeat(lead.length) + word;
    }
    isEmpty = line.length === lead.length;
  }
  return [...lines, line];
}

/** The segmenter is created only for text that is not ASCII: the first one in a process takes 13 ms. */
function graphemesOf(text: string): Intl.Segments {
  return new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text);
}

function widthOfGrapheme(grapheme: string): number {
  if (ASCII.test(grapheme)) return 1;
  if (WITHOUT_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}
