/** How many columns of a terminal a text takes, and the text cut to fit into some. */

/**
 * Takes two columns: East Asian Wide and Fullwidth (Unicode Standard Annex 11), and emoji. Rather too much than too
 * little: a line that is cut early does no harm, one that wraps does.
 */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\p{Extended_Pictographic}\u{2e80}-\u{303e}\u{3200}-\u{33ff}\u{fe30}-\u{fe6f}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}]/u;
const ASCII = /^[ -~]*$/;

/** Of printable text. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += widthOfGrapheme(segment);
  return width;
}

/** The beginning of `text` that takes `columns` at most, ending in `ellipsis` where something is left out. */
export function fitted(text: string, columns: number, ellipsis: string): string {
  if (widthOf(text) <= columns) return text;
  const room = columns - widthOf(ellipsis);
  let kept = '';
  let width = 0;
  for (const { segment } of graphemes(text)) {
    width += widthOfGrapheme(segment);
    if (width > room) break;
    kept += segment;
  }
  return room < 0 ? '' : kept + ellipsis;
}

function graphemes(text: string): Iterable<Intl.SegmentData> {
  return new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text);
}

function widthOfGrapheme(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}
