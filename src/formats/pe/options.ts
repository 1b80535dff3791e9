/** The option of programs. */

import type { FormatOption } from '../../format/options.ts';

export const PAGE_HASHES = {
  key: 'pageHashes',
  flag: '--page-hashes',
  help: 'PE: also sign a digest of each memory page',
} as const satisfies FormatOption;
