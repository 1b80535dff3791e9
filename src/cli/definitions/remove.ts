/** The options of `codesign-remote remove`. */

import { type Command, Option } from 'commander';
import type { RemoveCommandOptions } from '../commands/remove.ts';
import { EXCLUDE } from './common-options.ts';
import type { Run } from './run.ts';

export function defineRemove(program: Command, run: Run): void {
  program
    .command('remove')
    .description('take all signatures out of files')
    .argument('<files...>', 'paths, patterns ("dist/*.exe"), @list.txt, or - for a list on standard input')
    .option('-o, --output <path>', 'write there instead of in place: a file for one input, a folder for several')
    .option('--recursive', 'take folders: every signed file in them')
    .option(...EXCLUDE)
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: each start, causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((files: string[], options: RemoveCommandOptions) =>
      run(async (io) => {
        const { remove } = await import('../commands/remove.ts');
        return remove(files, options, io);
      }),
    );
}

const EXAMPLES = `
An unsigned file is left as it is, not copied to --output, and counts as done.

Examples:
  codesign-remote remove app.exe
  codesign-remote remove --output unsigned/ "dist/*.jar"

Exit codes: 0 done, or nothing to do, 2 usage, 6 a file cannot be read or written`;
