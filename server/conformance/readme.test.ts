/** Compares the README with the rules and options; `npx vitest run server/conformance/readme.test.ts -u` renews its table. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HELP } from './command/options.ts';
import { mostOf } from './command/print.ts';
import { couldSign, RULES } from './suite.ts';

const README = readFileSync(new URL('README.md', import.meta.url), 'utf8');
const [START, END] = ['<!-- rules: made by server/conformance/readme.test.ts -->', '<!-- end of rules -->'];
const NEEDS = { certificate: 'the certificate', count: 'a count', 'other-client': 'a second client' } as const;

function table(): string {
  const rows = RULES.map((rule) => {
    const signatures = couldSign(rule) ? mostOf(rule) : '';
    const needs = rule.needs === undefined ? '' : NEEDS[rule.needs];
    return `| ${rule.section} | ${rule.title.replace(/[|<>*]/g, '\\$&')} | ${signatures} | ${needs} |`;
  });
  return ['| section | rule | signatures | needs |', '|---|---|---|---|', ...rows].join('\n');
}

test('has a row for each rule', async () => {
  const [head = '', rest = ''] = README.split(START);
  const foot = rest.slice(rest.indexOf(END));
  await expect(`${head}${START}\n\n${table()}\n\n${foot}`).toMatchFileSnapshot('README.md');
});

test('has every option, variable and exit code of the command, as its help has', () => {
  const named = (text: string, pattern: RegExp) => [...new Set(text.match(pattern) ?? [])].sort();
  const described = README.slice(README.indexOf('| option |'), README.indexOf('## Verdicts'));
  const options = named(HELP, /^ {2}--[a-z-]+/gm).map((option) => option.trim());
  expect(named(described, /(?<=^\| `)--[a-z-]+/gm)).toEqual(options.filter((option) => option !== '--help'));
  expect(named(described, /CODESIGN_[A-Z_]+/g)).toEqual(expect.arrayContaining(named(HELP, /CODESIGN_[A-Z_]+[A-Z]/g)));
  expect(named(described, /(?<=^\| )\d(?:, \d)?(?= \|)/gm)).toEqual(['0', '1', '2', '3', '4, 5', '6']);
});
