/** Holds the tables of peculiar files to codes that there are. */

import { expect, it } from 'vitest';
import { bytesErrors } from '../../../../src/bytes/errors.ts';
import { cabinetErrors } from '../../../../src/cabinet/errors.ts';
import { fileErrors } from '../../../../src/files/errors.ts';
import { formatErrors } from '../../../../src/format/errors.ts';
import { appxErrors } from '../../../../src/formats/appx/errors.ts';
import { jarErrors } from '../../../../src/formats/jar/errors.ts';
import { msiErrors } from '../../../../src/formats/msi/errors.ts';
import { peErrors } from '../../../../src/formats/pe/errors.ts';
import { scriptErrors } from '../../../../src/formats/script/errors.ts';
import { zipErrors } from '../../../../src/zip/errors.ts';
import { readSpecialFiles } from './special-files.ts';

it.each([
  ['pe-special', [peErrors, bytesErrors, fileErrors, formatErrors]],
  ['jar-special', [zipErrors, jarErrors, fileErrors, formatErrors]],
  ['script-special', [scriptErrors, bytesErrors, fileErrors, formatErrors]],
  ['msi-special', [bytesErrors, formatErrors, msiErrors]],
  ['cab-special', [bytesErrors, formatErrors, cabinetErrors]],
  ['appx-special', [appxErrors, zipErrors, fileErrors, formatErrors]],
] as const)('the table of %s names each file once, and only codes that exist', (folder, tables) => {
  const files = readSpecialFiles(folder);
  expect(files.length).toBeGreaterThan(25);
  expect(new Set(files.map(({ file }) => file)).size).toBe(files.length);
  const codes = tables.flatMap(({ table }) => Object.keys(table));
  for (const { code } of files) if (code !== undefined) expect(codes).toContain(code);
});
