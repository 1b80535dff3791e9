/** Rows as all checks would write them: what the table must equal, and what it was written from. */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Group } from './cases.ts';
import { OTHERS, type Other, type OthersWord, type VerdictRow } from './table.ts';
import {
  askJarCheck,
  askJarsigner,
  askOsslsigncode,
  askSigcheck,
  askWine,
  type Said,
  verifyAll,
  WINE,
} from './verifiers.ts';

export interface Asking {
  readonly folder: string;
  readonly verifiers: string;
  /** Whether the others are to check this file, by its name in the table. */
  isForOthers(file: string): boolean;
}

export async function askAll(
  group: Group,
  index: number,
  { folder, verifiers, isForOthers }: Asking,
): Promise<VerdictRow[]> {
  const own = await verifyAll([...group.files.values()], group.roots);
  const asked = [...group.files].filter(([name]) => isForOthers(name)).map(([, place]) => place);
  const others =
    asked.length === 0 ? [] : await askOthers(group, asked, path.join(folder, `trust-${index}`), { folder, verifiers });
  return [...group.files].map(([file, place]) => {
    const words = OTHERS.flatMap((other) => {
      const word = new Map(others).get(other)?.get(place);
      return word === undefined ? [] : [[other, word] as const];
    });
    return { file, right: '', findings: [], ...own.get(place), others: new Map(words), why: '' };
  });
}

async function askOthers(
  { kind, roots }: Group,
  files: readonly string[],
  scratch: string,
  where: { readonly folder: string; readonly verifiers: string },
): Promise<[Other, Said<OthersWord>][]> {
  if (kind === 'jar') {
    const root = readFileSync(roots, 'utf8');
    return [
      ['jarsigner', await askJarsigner(files, root, scratch)],
      ['JarCheck', await askJarCheck(files, root, where)],
    ];
  }
  return [
    ['osslsigncode', await askOsslsigncode(files, roots)],
    ['sigcheck', await askSigcheck(files, roots, where.verifiers)],
    ...(existsSync(WINE) ? [['Wine', await askWine(files, roots, where)] as [Other, Said<OthersWord>]] : []),
  ];
}
