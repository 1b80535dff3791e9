import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { documents } from '../../docs/generate/documents.ts';

const inRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(inRoot(path), 'utf8');
const DOCUMENTS = Object.entries(documents(read('docs/output.md')));
const PAGE = 'man/codesign-remote.1';

it.each(DOCUMENTS)('the build writes %s from the current tables of commands and options', (name, text) => {
  if (!existsSync(inRoot('dist/man'))) throw new Error('dist is missing: run `npm run build` first');
  expect(read(`dist/${name}`), 'dist is older than the source: run `npm run build`').toBe(text);
  if (name.startsWith('schema/')) expect(read(name)).toBe(text);
});

describe('the manual page', () => {
  it('lists the exit codes', () => {
    expect(read(`dist/${PAGE}`)).toContain('.B 8');
  });

  it('is shown by man without a warning', () => {
    const { stdout, stderr } = spawnSync('man', ['--warnings', '--encoding=UTF-8', '-l', inRoot(`dist/${PAGE}`)], {
      encoding: 'utf8',
      env: { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: undefined },
    });
    expect(stderr).toBe('');
    const shown = stdout.replace(/\s+/g, ' ');
    expect(shown).toContain('codesign-remote - Signs code with a key in a remote HSM');
    expect(shown).toContain('--max-signatures n');
  });
});
