/** The options of `codesign-remote history`. */

import { type Command, Option } from 'commander';
import type { HistoryCommandOptions } from '../commands/history.ts';
import type { Run } from './run.ts';

export function defineHistory(program: Command, run: Run): void {
  program
    .command('history')
    .description('list the signatures asked of the service, with sums by month and certificate')
    .option('--since <YYYY-MM>', 'leave out what was asked before this month')
    .addOption(new Option('--json', 'one JSON document on standard output').conflicts('csv'))
    .option('--csv', 'a table for spreadsheets (RFC 4180), without the sums')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((options: HistoryCommandOptions) =>
      run(async (io) => {
        const { history } = await import('../commands/history.ts');
        return history(options, io);
      }),
    );
}

const EXAMPLES = `
It reads the journal of this user on this machine [CODESIGN_STATE_DIR]. Calls stay in it for 90 days. Times are UTC.

Examples:
  codesign-remote history --since 2026-11
  codesign-remote history --csv > calls.csv

Exit codes: 0 done, 2 usage, 6 the journal cannot be read`;
