/** Text that users read avoids words that send a reader whose first language is not English to a dictionary. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents } from '../../docs/generate/documents.ts';
import { REPOSITORY } from '../support/programs/cli.ts';
import { filesBelow } from './command-blocks.ts';

/** Only words that are wrong in every sentence. Others, such as "is no", are correct in some. */
const AVOIDED = `whoever, whomever, nobody, somebody, told, be had, is dear, all the same, but for, anew, in vain,
  mend(?:s|ed|ing)?, for ever, taken for, blanks, hears, beside, judges?, judged, nevertheless, notwithstanding,
  hitherto, lest, thereby, whereby, whatsoever, fruitless(?:ly)?, so-called, no success, word for word,
  this one time`.split(/,\s+/);
const PATTERN = new RegExp(`(?<![\\w-])(?:${AVOIDED.join('|').replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi');

/** Folders and files whose whole text is checked, with comments. */
const CHECKED = [
  /\.md$/,
  /^src\/.*\.(?:ts|mjs)$/,
  /^\.github\/actions\/.*\.(?:yml|mjs)$/,
  /^(?:docs\/generate|server\/(?:src|conformance|demo|scripts))\/.*\.(?:ts|mjs)$/,
];

describe('text for users', () => {
  const folders = ['.github', 'docs', 'fixtures', 'src', 'server', 'test'];
  const files = ['README.md', 'CHANGELOG.md', ...folders.flatMap(filesBelow)];
  const checked = files.filter((file) => CHECKED.some((pattern) => pattern.test(file)));

  const texts = checked.map((file) => [file, read(file)] as const);
  const made = Object.entries(documents(read('docs/output.md')));

  it.each([...texts, ...made])('%s uses plain words', (_name, text) => {
    expect(avoidedIn(text)).toEqual([]);
  });
});

function read(file: string): string {
  return readFileSync(path.join(REPOSITORY, file), 'utf8');
}

/** Each hit with its line. */
function avoidedIn(text: string): string[] {
  const plain = text.replace(/\n(\s*(?:\*|\/\/|#)\s)/g, (_all, lead: string) => `\n${' '.repeat(lead.length)}`);
  return [...plain.matchAll(PATTERN)].map(
    ({ 0: word, index }) => `${plain.slice(0, index).split('\n').length}: ${word.replace(/\n\s*/g, ' ')}`,
  );
}
