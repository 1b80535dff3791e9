/** The options of `codesign-remote sign`. */

import { type Command, Option } from 'commander';
import type { SignCommandOptions } from '../commands/sign.ts';
import { CERTIFICATE, ENVIRONMENT, EXCLUDE, PROFILE, TIMESTAMP_ROOTS, TIMESTAMP_URL } from './common-options.ts';
import { PROXY } from './proxy.ts';
import type { Run } from './run.ts';

export function defineSign(program: Command, run: Run): void {
  program
    .command('sign')
    .description('sign files in place, or to --output')
    .argument('<files...>', 'paths, patterns ("dist/*.exe"), @list.txt, or - for a list on standard input')
    .option(...PROFILE)
    .option(...ENVIRONMENT)
    .option('--base-url <url>', 'address of the signing service [CODESIGN_BASE_URL]')
    .option('-c, --code <number>', 'number of the certificate at the service [CODESIGN_CODE]')
    .option(...CERTIFICATE)
    .option('-a, --algorithm <name>', 'SHA1, SHA256, SHA384 or SHA512 (default SHA256) [CODESIGN_ALGORITHM]')
    .option(...TIMESTAMP_URL)
    .option('--timestamp-algorithm <name>', 'digest algorithm of the timestamp (default: as --algorithm)')
    .option('--timestamp-policy <oid>', 'policy to ask the authority for')
    .option(...TIMESTAMP_ROOTS)
    .option('--no-timestamp', 'sign without a timestamp: the signature ends with the certificate')
    .option('-d, --description <text>', "the program's name, shown by Windows")
    .option('-u, --url <url>', "the program's web page, shown by Windows")
    .option('--signer-name <name>', "JAR: name of the signature's files (default: from the certificate)")
    .option('--allow-unsigned-result', 'JAR: sign with SHA1 although Java takes the result as unsigned')
    .option('-o, --output <path>', 'write there instead of in place: a file for one input, a folder for several')
    .option('--replace', 'drop signatures that are there, the new one takes their place (default)')
    .option('--append', 'keep signatures that are there, the new one stands beside them')
    .option('--skip-signed', "leave files alone that carry this certificate's intact signature")
    .option('--recursive', 'take folders: every file in them that can be signed')
    .option(...EXCLUDE)
    .option('-j, --concurrency <n>', 'service calls under way at once (default 4) [CODESIGN_CONCURRENCY]')
    .option('--timeout <seconds>', 'limit for one attempt of one call (default 30) [CODESIGN_TIMEOUT]')
    .option('--all-or-nothing', 'spend no signature when any file cannot be signed')
    .option('--max-signatures <n>', 'refuse a run that might ask for more [CODESIGN_MAX_SIGNATURES]')
    .option(
      '--monthly-budget <n>',
      'refuse a run that might go beyond so many in a month, by the journal [CODESIGN_MONTHLY_BUDGET]',
    )
    .option('--mask-filename <how>', 'file name told to the service: none, basename, hash, omit (default basename)')
    .option('--extra <what>', 'what the service is told: all, anonymous, none (default all) [CODESIGN_EXTRA]')
    .option('--no-report', 'do not report the outcome to the service')
    .option(
      '--report-failures <when>',
      'files that fail after their signature: pending, until written or given up, or now (default pending) [CODESIGN_REPORT_FAILURES]',
    )
    .option('--no-journal', 'keep no journal: a signature that could not be used is lost, and paid for again')
    .option('--audit-log <file>', 'add a record of each call, masked, to this file [CODESIGN_AUDIT_LOG]')
    .option('--ca-file <pem>', 'further roots to trust for TLS [CODESIGN_CA_FILE]')
    .option(...PROXY)
    .option('--dry-run', 'everything but calls and writes; shows the digest that would be sent')
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: each start, each call, causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((files: string[], options: SignCommandOptions) =>
      run(async (io) => {
        const { sign } = await import('../commands/sign.ts');
        return sign(files, options, io);
      }),
    );
}

const EXAMPLES = `
Credentials come from CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE, or else from the keychain
(codesign-remote login), never from an option.

Examples:
  codesign-remote sign app.exe
  codesign-remote sign --timestamp-url http://timestamp.example.com app.exe
  codesign-remote sign --description "My App" --url https://example.com "dist/*.exe"
  codesign-remote sign --recursive --skip-signed --output signed/ dist/
  codesign-remote sign --dry-run --json app.exe

Exit codes: 0 done, 2 usage, 3 network, 4 HTTP, 5 refused by the service, 6 local file or certificate, 7 timestamp, 9 several kinds`;
