// Contents that deflate about as well as Java classes do, always the same: words of a vocabulary between numbers.

const WORDS = 6000;

/** Pseudo-random numbers from 0 up to 1, the same for the same seed (xorshift). */
export function randomNumbers(seed) {
  let state = (seed * 2654435761 + 1) | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** @returns what makes contents of a given size. */
export function classLikeContents(random) {
  const upTo = (most) => Math.floor(random() * most);
  const letter = () => 'etaoinsrhldcumfpgwybvkxjqzETAOISR;/()L$'.charCodeAt(Math.floor(39 * random() ** 2));
  const words = Array.from({ length: WORDS }, () => Uint8Array.from({ length: 3 + upTo(16) }, letter));
  return (size) => {
    const content = Buffer.allocUnsafe(size);
    // A class says a few of all words again and again.
    const own = Array.from({ length: 24 + (size >> 7) }, () => words[upTo(WORDS)]);
    for (let at = 0; at < size; ) {
      const word = own[Math.floor(own.length * random() ** 1.5)];
      for (let index = 0; index < word.length && at < size; index++) content[at++] = word[index];
      for (let numbers = 1 + upTo(5); numbers > 0 && at < size; numbers--) content[at++] = upTo(256);
    }
    return content;
  };
}
