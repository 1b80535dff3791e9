import type { FormatOption } from '../../format/options.ts';

export const INNER_PACKAGES = {
  key: 'innerPackages',
  flag: '--inner-packages',
  appliesTo: 'app bundles (.msixbundle, .appxbundle)',
  help: 'also sign the unsigned packages in an app bundle',
  group: 'Windows',
} as const satisfies FormatOption;
