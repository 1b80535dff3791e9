/** The picture of a terminal in the README: whole by itself, and harmless. What it shows: terminal-picture.long.test.ts. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../support/programs/cli.ts';

const PATH = join(REPOSITORY, 'docs/terminal.svg');
const picture = readFileSync(PATH, 'utf8');

it('is small, and well-formed XML', () => {
  expect(picture.length).toBeLessThan(30_000);
  const { status, stderr } = spawnSync(
    'python3',
    ['-c', 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])', PATH],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it('is no wider than the text of a web page', () => {
  expect(Number(/ width="(\d+)"/.exec(picture)?.[1])).toBeLessThanOrEqual(880);
});

it('has a title and a description for those who cannot see it', () => {
  expect(picture).toMatch(/<svg [^>]*role="img"[^>]*aria-labelledby="title description"/);
  expect(picture).toMatch(/<title id="title">\S.*<\/title>\n<desc id="description">\S.*<\/desc>/);
});

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
