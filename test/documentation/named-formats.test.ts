/** What the documents and the package say of formats agrees with the formats that are registered. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { formats, ONLY_IF_NAMED } from '../../src/formats/registry.ts';
import { REPOSITORY } from '../support/programs/cli.ts';

const read = (file: string) => readFileSync(path.join(REPOSITORY, file), 'utf8');
const EXTENSIONS: ReadonlySet<string> = new Set([...formats.flatMap(({ extensions }) => extensions), ...ONLY_IF_NAMED]);

/** The rows of the table that has this head, as cells. */
function tableWith(head: RegExp, file: string): readonly (readonly string[])[] {
  const lines = read(file).split('\n');
  const start = lines.findIndex((line) => head.test(line)) + 2;
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'));
  return lines.slice(start, end).map((line) => line.slice(1, -1).split('|'));
}

const extensionsIn = (text: string): readonly string[] => text.match(/(?<=`)\.[a-z\d]+(?=`)/g) ?? [];

describe.each(['README.md', 'docs/formats.md'])('the formats in %s', (file) => {
  const named = extensionsIn(tableWith(/^\| format \| files \|/, file).join('\n'));

  it('are all formats, and no other', () => {
    const absent = formats.filter(({ extensions }) => !extensions.some((extension) => named.includes(extension)));
    expect(absent.map(({ id }) => id)).toEqual([]);
    expect(named.filter((extension) => !EXTENSIONS.has(extension))).toEqual([]);
  });

  it('have all their extensions, except programs, which have any', () => {
    const expected = formats.filter(({ id }) => id !== 'pe').flatMap(({ extensions }) => extensions);
    expect(expected.filter((extension) => !named.includes(extension))).toEqual([]);
  });
});

it('the keywords of the package name every format', () => {
  const { keywords } = JSON.parse(read('package.json')) as { keywords: readonly string[] };
  expect(formats.map(({ id }) => id).filter((id) => !keywords.includes(id))).toEqual([]);
});

it('the changelog names files of every format, and of no other', () => {
  const named = extensionsIn(read('CHANGELOG.md'));
  const absent = formats.filter(({ extensions }) => !extensions.some((extension) => named.includes(extension)));
  expect(absent.map(({ id }) => id)).toEqual([]);
  expect(named.filter((extension) => !EXTENSIONS.has(extension))).toEqual([]);
});
