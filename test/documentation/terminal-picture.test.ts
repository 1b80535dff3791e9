/** The picture of a terminal in the README: whole by itself, and harmless. What it shows: terminal-picture.long.test.ts. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../support/programs/cli.ts';

const PATH = join(REPOSITORY, 'docs/terminal.svg');
const picture = readFileSync(PATH, 'utf8');

it('is small', () => expect(picture.length).toBeLessThan(30_000));

it('runs nothing and fetches nothing', () => {
  const elements = new Set(Array.from(picture.matchAll(/<([A-Za-z]+)/g), ([, name]) => name));
  expect([...elements].sort()).toEqual(['circle', 'desc', 'path', 'rect', 'style', 'svg', 'text', 'title']);
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
    /https?:|href|url\(|@import|@font-face|\son\w+=|<!|<\?|&(?!(?:amp|lt|gt);)/i,
  );
});

it('reports nothing on the machine that made it', () => {
  expect(picture).not.toMatch(/\/tmp|\/home|\/root\b|127\.0\.0\.1|localhost|Warning/);
});
