import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../src/cli/command-table.ts';
import { defineProgram } from '../../src/cli/program.ts';
import { blocksIn, commandsIn, PAGES, USER_PAGES } from './command-blocks.ts';

const SHELLS = ['sh', 'bat', 'powershell'];
/** Their blocks hold commands of codesign-remote, too. */
const WITH_COMMANDS = [...SHELLS, 'yaml', 'nsis', 'xml'];

async function commandNamed(args: readonly string[]): Promise<string> {
  let called = '';
  const program = defineProgram(async ({ name }) => {
    called = name;
  });
  await program.parseAsync(args, { from: 'user' });
  return called;
}

describe('the commands in code blocks and in the examples of --help', () => {
  const examples = PROGRAM.commands.map(({ name, notes = '' }) => {
    return { page: `${name} --help`, text: notes.split('Examples:\n')[1]?.split('\n\n')[0] ?? '' };
  });
  const commands = [...blocksIn(PAGES).filter(({ language }) => WITH_COMMANDS.includes(language)), ...examples].flatMap(
    ({ page, text }) => commandsIn(text).map((args) => [page, args.join(' '), args] as const),
  );

  it.each(commands)('%s: codesign-remote %s exists, with its options', async (_page, _command, args) => {
    expect(args.join(' ')).toMatch(new RegExp(`^${await commandNamed(args)}( |$)`));
  });
});

describe('shell blocks', () => {
  it('are marked as not run, if they are not for sh or not on a page for users', () => {
    const shell = blocksIn(PAGES).filter(({ language }) => SHELLS.includes(language));
    const unmarked = shell.filter(({ page, isRun }) => isRun && !USER_PAGES.includes(page));
    expect(unmarked.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
    expect(shell.filter(({ isRun }) => isRun).length).toBeGreaterThan(4);
  });

  it('have a language', () => {
    const bare = blocksIn(PAGES).filter(
      ({ language, text, page }) =>
        language === '' &&
        page !== 'docs/cli.md' &&
        /^(npm|npx|node|codesign-remote|wix|iscc|openssl|export) /m.test(text),
    );
    expect(bare.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });
});
