import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { documents } from '../../docs/generate/documents.ts';

const inRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(inRoot(path), 'utf8');
const DOCUMENTS = Object.entries(documents(read('docs/output.md')));

it.each(DOCUMENTS)('the build writes %s from the current tables of commands and options', (name, text) => {
  if (!existsSync(inRoot('dist/man'))) throw new Error('dist is missing: run `npm run build` first');
  expect(read(`dist/${name}`), 'dist is older than the source: run `npm run build`').toBe(text);
  if (name.startsWith('schema/')) expect(read(name)).toBe(text);
});

it('man shows the manual page without a warning', () => {
  const page = inRoot('dist/man/codesign-remote.1');
  const { stdout, stderr } = spawnSync('man', ['--warnings', '--encoding=UTF-8', '-l', page], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: undefined },
  });
  expect(stderr).toBe('');
  const shown = stdout.replace(/\s+/g, ' ');
  expect(shown).toContain('codesign-remote - Signs code with a key in a remote HSM');
  expect(shown).toContain('--max-signatures n');
});
