/** The options of `codesign-remote init`. */

import type { Command } from 'commander';
import type { InitCommandOptions } from '../commands/init.ts';
import { CERTIFICATE, ENVIRONMENT, PROFILE, TIMESTAMP_URL } from './common-options.ts';
import type { Run } from './run.ts';

export function defineInit(program: Command, run: Run): void {
  program
    .command('init')
    .description('ask for the settings that signing needs, check them, and store them in your profile')
    .option(...PROFILE)
    .option(...ENVIRONMENT)
    .option('--base-url <url>', 'address of the signing service [CODESIGN_BASE_URL]')
    .option('-c, --code <number>', 'number of the certificate at the service [CODESIGN_CODE]')
    .option(...CERTIFICATE)
    .option(...TIMESTAMP_URL)
    .option('--no-timestamp', 'store no time stamp authority')
    .option('--ca-file <pem>', 'further roots to trust for TLS [CODESIGN_CA_FILE]')
    .option('-y, --yes', 'ask nothing: take what options, environment and profile say')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((options: InitCommandOptions) =>
      run(async (io) => {
        const { init } = await import('../commands/init.ts');
        return init(options, io);
      }),
    );
}

const EXAMPLES = `
What options say is not asked. Answers in brackets are what the environment or the profile says already: Enter takes them.
Nothing is written before everything has been checked. The service is not called: codesign-remote whoami --check does that.

Examples:
  codesign-remote init
  codesign-remote init --profile work
  codesign-remote init --yes --base-url https://codesign.example.com --code 12345 --certificate chain.pem --no-timestamp

Exit codes: 0 stored, 2 usage, or something is missing, 6 the certificate is of no use or the file cannot be written`;
