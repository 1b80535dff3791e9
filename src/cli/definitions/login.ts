/** The options of `codesign-remote login`. */

import { type Command, Option } from 'commander';
import type { LoginCommandOptions } from '../commands/login.ts';
import { PROFILE } from './common-options.ts';
import { PROXY } from './proxy.ts';
import type { Run } from './run.ts';

export function defineLogin(program: Command, run: Run): void {
  program
    .command('login')
    .description("store credentials for a signing service in the operating system's keychain")
    .option(...PROFILE)
    .option('--base-url <url>', 'address of the signing service [CODESIGN_BASE_URL]')
    .option('--access-key <key>', 'take the Access Key from here, and the Access Secret from standard input')
    .option('--no-check', 'store without asking the service whether it takes them')
    .option('--timeout <seconds>', 'limit for asking the service (default 30) [CODESIGN_TIMEOUT]')
    .option('--ca-file <pem>', 'further roots to trust for TLS [CODESIGN_CA_FILE]')
    .option(...PROXY)
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((options: LoginCommandOptions) =>
      run(async (io) => {
        const { login } = await import('../commands/login.ts');
        return login(options, io);
      }),
    );
}

const EXAMPLES = `
On a terminal it asks for address, Access Key and Access Secret, which is not shown. The Access Secret never is an argument:
others could see it, and the shell would keep it. The credentials are bound to the service they were given for, and asking it
spends no signature.

Examples:
  codesign-remote login
  codesign-remote login --profile work --base-url https://codesign.example.com
  codesign-remote login --access-key your-access-key < secret.txt

Exit codes: 0 stored, 2 usage, or the keychain cannot be used, 3 the service cannot be reached, 4 and 5 it refuses the
credentials, 6 the profile cannot be written`;
