/** The known word nearest to the one given, if it differs by at most `most` letters; their case does not count. */
export function suggest(word: string, known: Iterable<string>, most = 3): string | undefined {
  let best: string | undefined;
  let least = Math.min(most, Math.floor(word.length / 2)) + 1;
  for (const candidate of known) {
    const mistakes = countMistakes(plain(word), plain(candidate));
    if (mistakes < least) [best, least] = [candidate, mistakes];
  }
  return best;
}

/** As a sentence to put before a hint; empty when nothing is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = suggest(word, known);
  return meant === undefined ? '' : `Did you mean ${meant}? `;
}

function plain(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[-_]/g, '');
}

/** Letters to put in, to take out or to exchange: the distance of Levenshtein. */
function countMistakes(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [above, letter] of [...one].entries()) {
    const next = [above + 1];
    for (let at = 1; at <= other.length; at += 1) {
      const exchanged = (row[at - 1] ?? 0) + (other[at - 1] === letter ? 0 : 1);
      next.push(Math.min(exchanged, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
