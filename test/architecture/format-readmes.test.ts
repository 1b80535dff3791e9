/** Holds the READMEs of formats to the files that are there. */

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './source-files.ts';

const formats = join(ROOT, 'src/formats');
const folders = readdirSync(formats, { withFileTypes: true }).filter((entry) => entry.isDirectory());

it.each([
  { folder: join(ROOT, 'src/authenticode'), isDeep: true },
  { folder: formats, isDeep: false },
  ...folders.map(({ name }) => ({ folder: join(formats, name), isDeep: true })),
])('the README of $folder lists exactly its files', ({ folder, isDeep }) => {
  const section = /## Files\n(.*?)(\n## |$)/s.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1] ?? '';
  const files = readdirSync(folder, { recursive: isDeep, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/'));
  const listed = [...section.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name]) => name);
  expect(listed.sort()).toEqual(files.sort());
});
