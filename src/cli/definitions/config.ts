/** The commands below `codesign-remote config`, and their options. */

import type { Command } from 'commander';
import type { ProfileOptions } from '../../options/options.ts';
import type { ConfigListOptions } from '../commands/config.ts';
import { ENVIRONMENT, PROFILE } from './common-options.ts';
import type { Run } from './run.ts';

export function defineConfig(program: Command, run: Run): void {
  const config = program
    .command('config')
    .description('show the settings that hold here, and change those stored in your profiles')
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  defineList(config, run);
  defineGet(config, run);
  defineSet(config, run);
  defineUnset(config, run);
  config
    .command('path')
    .description('print where the profiles are stored')
    .exitOverride()
    .action(() =>
      run(async (io) => {
        const { configPath } = await import('../commands/config.ts');
        return configPath(io);
      }),
    );
}

function defineList(config: Command, run: Run): void {
  config
    .command('list')
    .description('list every setting that holds here')
    .option(...PROFILE)
    .option(...ENVIRONMENT)
    .option('--origin', 'say of each setting where it comes from')
    .option('--json', 'one JSON document on standard output')
    .addHelpText('after', ORDER)
    .exitOverride()
    .action((options: ConfigListOptions) =>
      run(async (io) => {
        const { configList } = await import('../commands/config.ts');
        return configList(options, io);
      }),
    );
}

function defineGet(config: Command, run: Run): void {
  config
    .command('get')
    .description('print the setting that holds here, each of several values on a line')
    .argument('<key>', 'algorithm, say, or environments.alternate')
    .option(...PROFILE)
    .option(...ENVIRONMENT)
    .exitOverride()
    .action((key: string, options: ProfileOptions) =>
      run(async (io) => {
        const { configGet } = await import('../commands/config.ts');
        return configGet(key, options, io);
      }),
    );
}

function defineSet(config: Command, run: Run): void {
  config
    .command('set')
    .description('store a setting in the profile')
    .argument('<key>', 'algorithm, say, or environments.alternate')
    .argument('<values...>', 'one value, or several for certificate and timestampUrl')
    .option(...PROFILE)
    .exitOverride()
    .action((key: string, values: string[], options: ProfileOptions) =>
      run(async (io) => {
        const { configSet } = await import('../commands/config.ts');
        return configSet(key, values, options, io);
      }),
    );
}

function defineUnset(config: Command, run: Run): void {
  config
    .command('unset')
    .description('take a setting out of the profile')
    .argument('<key>', 'algorithm, say, or environments.alternate')
    .option(...PROFILE)
    .exitOverride()
    .action((key: string, options: ProfileOptions) =>
      run(async (io) => {
        const { configUnset } = await import('../commands/config.ts');
        return configUnset(key, options, io);
      }),
    );
}

const ORDER = `
An option wins over the environment, that over the project's codesign-remote.config.json, that over your profile, that over
the default.`;

const EXAMPLES = `${ORDER} Credentials are no settings: codesign-remote login keeps them.

Examples:
  codesign-remote config list --origin
  codesign-remote config set code 12345
  codesign-remote config set timestampUrl http://timestamp.example.com http://tsa.example.org
  codesign-remote config set environments.alternate https://alternate.example.com
  codesign-remote config set --profile work baseUrl https://codesign.example.com

Exit codes: 0 done, 2 usage, a setting that is not set, or a damaged file, 6 the file cannot be written`;
