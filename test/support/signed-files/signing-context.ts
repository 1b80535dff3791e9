/** What a format is given to sign with, in tests that name only what matters to them. */

import type { FormatOptions } from '../../../src/format/options.ts';
import type { SigningContext } from '../../../src/format/signable-file.ts';

type Given = Pick<SigningContext, 'chain'> & Partial<Omit<SigningContext, 'formatOptions'>>;

/** SHA256, at a fixed time. */
export function signingContext(
  given: Given,
  options: Record<string, string | boolean | undefined> = {},
): SigningContext {
  const formatOptions: Record<string, string | true> = {};
  for (const [key, value] of Object.entries(options)) {
    if (value !== undefined && value !== false) formatOptions[key] = value;
  }
  return {
    algorithm: 'SHA256',
    time: new Date('2024-05-06T07:08:09Z'),
    ...given,
    formatOptions: formatOptions satisfies FormatOptions,
  };
}
