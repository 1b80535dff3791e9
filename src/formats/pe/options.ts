import type { FormatOption } from '../../format/options.ts';

export const PAGE_HASHES = {
  key: 'pageHashes',
  flag: '--page-hashes',
  help: 'also sign a digest of each memory page (PE)',
  group: 'Windows',
} as const satisfies FormatOption;
