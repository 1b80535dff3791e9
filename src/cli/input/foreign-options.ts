import { existsSync } from 'node:fs';
import { strangeOption, takesValue } from './strange-option.ts';

/** Arguments after `--` and existing files count as paths. */
export async function refuseForeignOptions(
  argv: readonly string[],
  exists: (path: string) => boolean = existsSync,
): Promise<void> {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const given = { argv: words, exists };
  const isStrange = words.some((word, at) => strangeOption(word, given) && !takesValue(words[at - 1] ?? ''));
  if (isStrange) (await import('./translate-options.ts')).refuseStrangeOptions(given);
}
