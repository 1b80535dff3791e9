/** The options of `codesign-remote inspect`. */

import { type Command, Option } from 'commander';
import type { InspectCommandOptions } from '../commands/inspect.ts';
import type { Run } from './run.ts';

export function defineInspect(program: Command, run: Run): void {
  program
    .command('inspect')
    .description("show what a file's signatures hold")
    .argument('<file>', 'path of the file; it is only read')
    .addOption(
      new Option('--certificates', 'write all certificates, as PEM, to standard output instead').conflicts('json'),
    )
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((file: string, options: InspectCommandOptions) =>
      run(async (io) => {
        const { inspect } = await import('../commands/inspect.ts');
        return inspect(file, options, io);
      }),
    );
}

const EXAMPLES = `
Signatures (nested ones too) with their digests, signers, certificates, attributes and timestamps. Nothing is said of
trust: codesign-remote verify judges that.

Examples:
  codesign-remote inspect app.exe
  codesign-remote inspect --json app.jar
  codesign-remote inspect --certificates app.exe > chain.pem

Exit codes: 0 shown, an unsigned file too, 2 usage, 6 the file cannot be read or is of no known format`;
