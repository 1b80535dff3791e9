/** The options of `codesign-remote attach`. */

import { type Command, Option } from 'commander';
import type { ChangeCommandOptions } from '../commands/run-changes.ts';
import type { Run } from './run.ts';

export function defineAttach(program: Command, run: Run): void {
  program
    .command('attach')
    .description('put a finished signature into the file that it was made for')
    .argument('<file>', 'the file')
    .argument('<signature>', 'its signature, as extract writes it: CMS (PKCS#7), DER or PEM; - for standard input')
    .option('-o, --output <path>', 'write there instead of in place')
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((file: string, signature: string, options: ChangeCommandOptions) =>
      run(async (io) => {
        const { attach } = await import('../commands/attach.ts');
        return attach(file, signature, options, io);
      }),
    );
}

const EXAMPLES = `
A signature fits only the very content it was made for: every other one is refused, and the file left as it is.
It takes the place of the signatures that are there (JAR: of the one for the same signature file).

Examples:
  codesign-remote attach app.exe app.exe.p7s
  codesign-remote extract signed.exe | codesign-remote attach --output again.exe unsigned.exe -

Exit codes: 0 done, 2 usage, 6 the signature does not fit, or a file cannot be read or written`;
