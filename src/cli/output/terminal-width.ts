/** How many columns of a terminal a printable text takes, and texts cut to fit. */

import { eastAsianWidth } from 'get-east-asian-width';

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });
const ASCII = /^[ -~]*$/;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f)/u;
/** Marks are drawn over the character before them; format characters are not drawn. */
const WITHOUT_WIDTH = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Format}]+$/u;

/**
 * Counts columns by grapheme clusters (Unicode Standard Annexes 11 and 29). Stops once the count is above `limit`, so that a
 * hostile name costs no more than a long one.
 */
export function widthOf(text: string, limit = Number.POSITIVE_INFINITY): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += widthOfGrapheme(segment);
    if (width > limit) break;
  }
  return width;
}

/** The beginning of `text` that takes `columns` at most, ending in `ellipsis` if something is left out. */
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

/** What a reader sees as one character each; lazy. */
export function graphemesOf(text: string): Iterable<{ readonly segment: string }> {
  return SEGMENTER.segment(text);
}

/** Columns of one grapheme cluster. */
export function widthOfGrapheme(grapheme: string): number {
  if (ASCII.test(grapheme)) return 1;
  if (WITHOUT_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}
