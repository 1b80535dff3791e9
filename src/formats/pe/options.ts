import type { FormatOption } from '../../format/options.ts';

export const PAGE_HASHES = {
  key: 'pageHashes',
  flag: '--page-hashes',
  help: 'include a digest of each memory page in the signature (PE)',
  group: 'Windows',
} as const satisfies FormatOption;
