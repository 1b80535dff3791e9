/** The tables of peculiar files, one for each format (pe-special.md, jar-special.md), as data. */

import { readFileSync } from 'node:fs';
import { cellsOf } from '../../../documentation/command-blocks.ts';

/** Returns the rows of a table, each with the error code of a refusal. Throws if a row is incomplete. */
export function readSpecialFiles(table: string) {
  const text = readFileSync(new URL(`${table}.md`, import.meta.url), 'utf8');
  const [, , ...rows] = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) => {
    const [file = '', result = '', code = '', why = ''] = cellsOf(row);
    if (file === '' || why === '') throw new Error(`incomplete row: ${row}`);
    if (result === 'signed' && code === '') return { file, result, code: undefined, why };
    if (result === 'refused' && code !== '') return { file, result, code, why };
    throw new Error(`a file is signed, or refused with a code: ${row}`);
  });
}
