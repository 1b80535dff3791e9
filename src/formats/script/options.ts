import type { FormatOption } from '../../format/options.ts';

export const WSH = {
  key: 'wsh',
  flag: '--wsh',
  appliesTo: '.js files',
  help: 'also sign .js files, as scripts for Windows Script Host',
  group: 'Windows',
} as const satisfies FormatOption;
