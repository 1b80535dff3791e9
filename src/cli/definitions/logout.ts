/** The options of `codesign-remote logout`. */

import { type Command, Option } from 'commander';
import type { LogoutCommandOptions } from '../commands/logout.ts';
import { PROFILE } from './common-options.ts';
import type { Run } from './run.ts';

export function defineLogout(program: Command, run: Run): void {
  program
    .command('logout')
    .description("take credentials out of the operating system's keychain")
    .option(...PROFILE)
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((options: LogoutCommandOptions) =>
      run(async (io) => {
        const { logout } = await import('../commands/logout.ts');
        return logout(options, io);
      }),
    );
}

const EXAMPLES = `
Settings of the profile stay, and so do credentials in the environment.

Examples:
  codesign-remote logout
  codesign-remote logout --profile work

Exit codes: 0 there are none any more, 2 usage, or the keychain cannot be used`;
