import type { FormatOption } from '../../format/options.ts';

/** Each package needs its own signature. */
export const INNER_PACKAGES = {
  key: 'innerPackages',
  flag: '--inner-packages',
  appliesTo: 'app bundles (.msixbundle, .appxbundle)',
  help: 'app bundle: sign the unsigned packages in it too',
} as const satisfies FormatOption;
