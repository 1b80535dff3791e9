/** The options of `codesign-remote resume`. */

import { type Command, Option } from 'commander';
import type { ResumeCommandOptions } from '../commands/resume.ts';
import { CERTIFICATE, ENVIRONMENT, PROFILE, repeatable, TIMESTAMP_ROOTS, TIMESTAMP_URL } from './common-options.ts';
import { PROXY } from './proxy.ts';
import type { Run } from './run.ts';

export function defineResume(program: Command, run: Run): void {
  program
    .command('resume')
    .description('finish what earlier runs of sign left: files to be written, reports to be sent')
    .option(...PROFILE)
    .option(...ENVIRONMENT)
    .option('--base-url <url>', 'address of the signing service [CODESIGN_BASE_URL]')
    .option(...CERTIFICATE)
    .option(...TIMESTAMP_URL)
    .option('--timestamp-algorithm <name>', "digest algorithm of the timestamp (default: the signature's)")
    .option('--timestamp-policy <oid>', 'policy to ask the authority for')
    .option(...TIMESTAMP_ROOTS)
    .option('--no-timestamp', 'write files without a timestamp: their signature ends with the certificate')
    .option('--forget <id>', 'give this call up, for good, and finish nothing else; repeatable', repeatable)
    .option('-j, --concurrency <n>', 'files and reports under way at once (default 4) [CODESIGN_CONCURRENCY]')
    .option('--timeout <seconds>', 'limit for one attempt of one request (default 30) [CODESIGN_TIMEOUT]')
    .option('--no-report', 'do not report the outcome to the service, and drop reports that are pending')
    .option('--audit-log <file>', 'add a record of each call, masked, to this file [CODESIGN_AUDIT_LOG]')
    .option('--ca-file <pem>', 'further roots to trust for TLS [CODESIGN_CA_FILE]')
    .option(...PROXY)
    .option('--dry-run', 'show what is unfinished, and do nothing')
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'say more: each start, each call, causes of errors')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((options: ResumeCommandOptions) =>
      run(async (io) => {
        const { resume } = await import('../commands/resume.ts');
        return resume(options, io);
      }),
    );
}

const EXAMPLES = `
It asks for no signature. Credentials come from the environment or the keychain, as for sign; a report is sent only to the
service, and with the access key, that the signature came from. A call whose outcome is unknown may have been counted: ask
your service, and give it up with --forget; sign asks for its file anew in either case.

Examples:
  codesign-remote resume --dry-run
  codesign-remote resume
  codesign-remote resume --forget 5f0e8c1d9a7b3c2e4f60

Exit codes: 0 nothing is left, or only what is yours to settle; 2 usage, or other settings are needed, 3 network, 4 HTTP,
5 refused by the service, 6 local file, 7 timestamp, 9 several kinds`;
