/** The options of `codesign-remote timestamp`. */

import { type Command, Option } from 'commander';
import type { TimestampCommandOptions } from '../commands/timestamp.ts';
import { EXCLUDE, PROFILE, TIMESTAMP_ROOTS, TIMESTAMP_URL } from './common-options.ts';
import { PROXY } from './proxy.ts';
import type { Run } from './run.ts';

export function defineTimestamp(program: Command, run: Run): void {
  program
    .command('timestamp')
    .description('add timestamps to files that are signed already')
    .argument('<files...>', 'paths, patterns ("dist/*.exe"), @list.txt, or - for a list on standard input')
    .option(...PROFILE)
    .option(...TIMESTAMP_URL)
    .option('--timestamp-algorithm <name>', 'digest algorithm of the timestamp (default SHA256)')
    .option('--timestamp-policy <oid>', 'policy to ask the authority for')
    .option(...TIMESTAMP_ROOTS)
    .option('--force', 'replace timestamps that are there, and stamp signatures of expired certificates too')
    .option('-o, --output <path>', 'write there instead of in place: a file for one input, a folder for several')
    .option('--recursive', 'take folders: every signed file in them')
    .option(...EXCLUDE)
    .option('-j, --concurrency <n>', 'files under way at once (default 4) [CODESIGN_CONCURRENCY]')
    .option('--timeout <seconds>', 'limit for one attempt of one request (default 30) [CODESIGN_TIMEOUT]')
    .option('--ca-file <pem>', 'further roots to trust for TLS [CODESIGN_CA_FILE]')
    .option(...PROXY)
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: each start, causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((files: string[], options: TimestampCommandOptions) =>
      run(async (io) => {
        const { timestamp } = await import('../commands/timestamp.ts');
        return timestamp(files, options, io);
      }),
    );
}

const EXAMPLES = `
Every signature without a timestamp gets one, nested ones too. A file whose signature is broken, or made with a certificate
that has expired since, is left as it is. What needs no timestamp is skipped, and not copied to --output.

Examples:
  codesign-remote timestamp --timestamp-url http://timestamp.example.com app.exe
  codesign-remote timestamp --recursive --output stamped/ dist/

Exit codes: 0 done, or nothing to do, 2 usage, 6 a file is unsigned, broken or cannot be written, 7 no authority gave a
timestamp, 9 several kinds`;
