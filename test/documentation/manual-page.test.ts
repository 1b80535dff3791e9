/** Holds man/codesign-remote.1 to the commands as they are; `npx vitest run test/documentation -u` renews it. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROGRAM } from '../../src/cli/command-table.ts';
import { describeProgram } from '../../src/cli/completion/describe.ts';
import { manualPage } from './manual-page.ts';

const PAGE = new URL('../../man/codesign-remote.1', import.meta.url);
const DOCUMENT = readFileSync(new URL('../../docs/output.md', import.meta.url), 'utf8');

/** As the table of docs/output.md has them. */
function exitCodes(): readonly (readonly [string, string])[] {
  const table = DOCUMENT.slice(DOCUMENT.indexOf('\n## Exit codes\n'))
    .split('\n\n')
    .find((part) => part.startsWith('|'));
  const rows = (table ?? '').split('\n').slice(2);
  return rows
    .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, code, text]) => [code ?? '', text ?? '']);
}

it('the manual page says what the commands are', async () => {
  const page = manualPage(describeProgram(PROGRAM), exitCodes());
  expect(page).toContain('.B 8');
  await expect(page).toMatchFileSnapshot(PAGE.pathname);
});

it('man shows it without a warning', () => {
  const { stdout, stderr } = spawnSync('man', ['--warnings', '--encoding=UTF-8', '-l', PAGE.pathname], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: undefined },
  });
  expect(stderr).toBe('');
  const shown = stdout.replace(/\s+/g, ' ');
  expect(shown).toContain('codesign-remote - Signs code with a key in a remote HSM');
  expect(shown).toContain('--max-signatures n');
});
