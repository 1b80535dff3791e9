/**
 * Detects options that belong to other signing tools. Without this check, some would be read as a short option (-out as
 * -o with the value "ut") or as a path. This would waste signatures.
 */

import { existsSync } from 'node:fs';
import { strangeOption, takesValue } from './strange-option.ts';

/**
 * Arguments after `--` and existing files count as paths. Only whole option names are matched: `-c1001` is an option of
 * this program. Tests can replace `exists`.
 */
export async function refuseForeignOptions(
  argv: readonly string[],
  exists: (path: string) => boolean = existsSync,
): Promise<void> {
  const end = argv.indexOf('--');
  const [words, rest] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)];
  const given = { argv: words, rest, exists };
  const isStrange = words.some((word, at) => strangeOption(word, given) && !takesValue(words[at - 1] ?? ''));
  // This code is loaded only if the command line contains such options.
  if (isStrange) (await import('./translate-options.ts')).refuseStrangeOptions(given);
}
