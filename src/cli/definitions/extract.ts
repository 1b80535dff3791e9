/** The options of `codesign-remote extract`. */

import { type Command, Option } from 'commander';
import type { ExtractCommandOptions } from '../commands/extract.ts';
import type { Run } from './run.ts';

export function defineExtract(program: Command, run: Run): void {
  program
    .command('extract')
    .description("take a signature's CMS (PKCS#7) out of a file")
    .argument('<file>', 'path of the signed file; it is only read')
    .option('-o, --output <path>', 'write there (default: standard output)')
    .option('--pem', 'as PEM, with the label PKCS7 (default: DER)')
    .option('--index <n>', 'which signature, by the number that inspect shows (default 1)')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((file: string, options: ExtractCommandOptions) =>
      run(async (io) => {
        const { extract } = await import('../commands/extract.ts');
        return extract(file, options, io);
      }),
    );
}

const EXAMPLES = `
The CMS comes as it stands in the file, byte for byte: with its timestamp and the signatures nested in it. Of a JAR it
is what META-INF/NAME.RSA holds.

Examples:
  codesign-remote extract app.exe -o app.p7s
  codesign-remote extract --index 2 --pem app.exe
  codesign-remote extract app.jar | openssl pkcs7 -inform DER -print_certs

Exit codes: 0 done, 2 usage (no such signature too), 6 the file holds no signature, or cannot be read or written`;
