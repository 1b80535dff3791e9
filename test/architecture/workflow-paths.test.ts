/** Every path and npm script that a workflow, an action, .ci/run or the check for a stale build names exists. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './source-files.ts';

const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
).scripts;
const FILES = [
  '.ci/run',
  ...readdirSync(path.join(ROOT, '.github'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ya?ml$/.test(file))
    .map((file) => path.posix.join('.github', file.replaceAll(path.sep, '/'))),
];

it.each(FILES)('%s names only existing paths', (file) => {
  expect(missingIn(readFileSync(path.join(ROOT, file), 'utf8'))).toEqual([]);
});

it('the build is compared with sources that exist', async () => {
  const { SOURCES } = (await import(new URL('../../server/scripts/fresh-build.mjs', import.meta.url).href)) as {
    readonly SOURCES: readonly string[];
  };
  expect(SOURCES.filter((source) => !existsSync(path.join(ROOT, source)))).toEqual([]);
});

function missingIn(text: string): readonly string[] {
  const paths = [
    ...text.matchAll(
      /(?<![\w$./-])(?:\.\/)?((?:\.ci|\.github|bin|docs|fixtures|man|schema|server|src|test)\/[\w./*{},-]+)/g,
    ),
  ].flatMap(([, named = '']) => alternatives(named.replace(/[.,/]+$/, '')));
  const scripts = [...text.matchAll(/\bnpm (?:run )?(test|(?<=run )[\w:-]+)/g)].map(([, script = '']) => script);
  return [
    ...paths.filter((named) => !isThere(named)),
    ...scripts.filter((script) => SCRIPTS[script] === undefined).map((script) => `npm run ${script}`),
  ];
}

/** `a{b,c}d` as `abd` and `acd`. */
function alternatives(named: string): readonly string[] {
  const [, before = '', list, after = ''] = /^(.*?)\{([^}]*)\}(.*)$/.exec(named) ?? [];
  return list === undefined ? [named] : list.split(',').flatMap((each) => alternatives(before + each + after));
}

/** Vitest takes the beginning of a path; a pattern is one up to its star. */
function isThere(named: string): boolean {
  const [beginning = ''] = named.split('*');
  const folder = path.join(ROOT, path.dirname(`${beginning}x`));
  return (
    existsSync(folder) &&
    readdirSync(folder).some((name) => name.startsWith(path.basename(`${beginning}x`).slice(0, -1)))
  );
}
