/** Options of other signing tools. Some would be read as a short option with its value (-out as -o with "ut") or as a path, and cost signatures. */

import { existsSync } from 'node:fs';
import { strangeOption, takesValue } from './strange-option.ts';

/**
 * Arguments after -- are paths, and so is what exists. Only whole names count: `-c1001` is ours. Throws `foreign-option`,
 * `secret-as-argument`. `exists`: for tests.
 */
export async function refuseForeignOptions(
  argv: readonly string[],
  exists: (path: string) => boolean = existsSync,
): Promise<void> {
  const end = argv.indexOf('--');
  const [words, rest] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)];
  const given = { argv: words, rest, exists };
  const isStrange = words.some((word, at) => strangeOption(word, given) && !takesValue(words[at - 1] ?? ''));
  // Loaded only for a command line with such options.
  if (isStrange) (await import('./translate-options.ts')).refuseStrangeOptions(given);
}
