/** The options of `codesign-remote whoami`. */

import type { Command } from 'commander';
import type { WhoamiCommandOptions } from '../commands/whoami.ts';
import { ENVIRONMENT, PROFILE } from './common-options.ts';
import { PROXY } from './proxy.ts';
import type { Run } from './run.ts';

export function defineWhoami(program: Command, run: Run): void {
  program
    .command('whoami')
    .description('show which credentials sign would use, masked')
    .option(...PROFILE)
    .option(...ENVIRONMENT)
    .option('--base-url <url>', 'address of the signing service [CODESIGN_BASE_URL]')
    .option('--check', 'ask the service whether it takes them, which spends no signature')
    .option('--timeout <seconds>', 'limit for asking the service (default 30) [CODESIGN_TIMEOUT]')
    .option('--ca-file <pem>', 'further roots to trust for TLS [CODESIGN_CA_FILE]')
    .option(...PROXY)
    .option('--json', 'one JSON document on standard output')
    .option('-v, --verbose', 'say more: causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((options: WhoamiCommandOptions) =>
      run(async (io) => {
        const { whoami } = await import('../commands/whoami.ts');
        return whoami(options, io);
      }),
    );
}

const EXAMPLES = `
The service is asked for a signature that it must refuse, after it has looked at the credentials. Only a 401 means that it
does not take them; any other answer is taken for accepted, as far as the service tells.

Examples:
  codesign-remote whoami
  codesign-remote whoami --check --json

Exit codes: 0 there are some (with --check: not refused), 2 none, or the keychain cannot be used, 3 the service cannot be
reached, 4 and 5 it refuses them`;
