/** Holds the table of peculiar files to codes that there are. */

import { expect, it } from 'vitest';
import { peErrors } from '../../src/formats/pe/errors.ts';
import { signingErrors } from '../../src/signing/errors.ts';
import { readSpecialFiles } from './pe-special.ts';

it('the table of peculiar files names each file once, and only codes that exist', () => {
  const files = readSpecialFiles();
  expect(files.length).toBeGreaterThan(50);
  expect(new Set(files.map(({ file }) => file)).size).toBe(files.length);
  const codes = [...Object.keys(peErrors.table), ...Object.keys(signingErrors.table)];
  for (const { code } of files) if (code !== undefined) expect(codes).toContain(code);
});
