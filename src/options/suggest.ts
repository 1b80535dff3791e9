/**
 * Returns the shortest word that begins with `word`, or the closest one in which at most a third of the letters differ.
 * Ignores case, hyphens and underscores.
 */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const letters = plain(word);
  const words = [...known];
  const longer = words.filter((one) => letters.length >= LEAST_PREFIX && plain(one).startsWith(letters));
  if (longer.length > 0) return longer.reduce((best, one) => (one.length < best.length ? one : best));
  let best: string | undefined;
  let least = Math.floor(letters.length / 3) + 1;
  for (const candidate of words) {
    const mistakes = countMistakes(letters, plain(candidate));
    if (mistakes < least) [best, least] = [candidate, mistakes];
  }
  return best;
}

const LEAST_PREFIX = 2;

/** Returns a sentence to put before a hint, or an empty string. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = suggest(word, known);
  return meant === undefined ? '' : `Did you mean ${meant}? `;
}

function plain(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[-_]/g, '');
}

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of adjacent letters. */
function countMistakes(one: string, other: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [above, letter] of [...one].entries()) {
    const next = [above + 1];
    for (let at = 1; at <= other.length; at += 1) {
      const exchanged = (row[at - 1] ?? 0) + (other[at - 1] === letter ? 0 : 1);
      const isSwapped = at > 1 && above > 0 && other[at - 2] === letter && other[at - 1] === one[above - 1];
      const swapped = isSwapped ? (before[at - 2] ?? 0) + 1 : exchanged;
      next.push(Math.min(exchanged, swapped, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
