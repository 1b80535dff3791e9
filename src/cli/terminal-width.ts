/** How many columns of a terminal a printable text takes, and texts cut to fit. */

import { eastAsianWidth } from 'get-east-asian-width';

const ASCII = /^[ -~]*$/;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f)/u;
/** Marks are drawn over the character before them; format characters are not drawn. */
const WITHOUT_WIDTH = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Format}]+$/u;

/** Counts columns by grapheme clusters (Unicode Standard Annexes 11 and 29). */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesOf(text)) width += widthOfGrapheme(grapheme);
  return width;
}

/** The beginning of `text` that takes `columns` at most, ending in `ellipsis` if something is left out. */
export function fitted(text: string, columns: number, ellipsis: string): string {
  if (widthOf(text) <= columns) return text;
  const limit = columns - widthOf(ellipsis);
  let kept = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += widthOfGrapheme(grapheme);
    if (width > limit) break;
    kept += grapheme;
  }
  return limit < 0 ? '' : kept + ellipsis;
}

/** What a reader sees as one character each. */
export function graphemesOf(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text), ({ segment }) => segment);
}

function widthOfGrapheme(grapheme: string): number {
  if (WITHOUT_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}
