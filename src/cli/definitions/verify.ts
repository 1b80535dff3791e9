/** The options of `codesign-remote verify`. */

import { type Command, Option } from 'commander';
import type { VerifyCommandOptions } from '../commands/verify.ts';
import { EXCLUDE, repeatable } from './common-options.ts';
import { PROXY } from './proxy.ts';
import type { Run } from './run.ts';

export function defineVerify(program: Command, run: Run): void {
  program
    .command('verify')
    .description('check integrity, signer, chain and timestamp of signed files')
    .argument('<files...>', 'paths, patterns ("dist/*.exe"), @list.txt, or - for a list on standard input')
    .option('--roots <pem>', "trust these root certificates alone, for signers and timestamps (default: the system's)")
    .option('--integrity-only', 'do not ask whether the signer is trusted')
    .option('--signer <name or SHA-256>', 'a signature must be by this common name, or this certificate')
    .option('--require-timestamp', 'a signature must have a good timestamp')
    .option('--algorithm-at-least <name>', 'a signature must be by SHA256, SHA384 or SHA512, or stronger')
    .option('--crl-file <file>', 'revoked certificates, PEM or DER; repeatable', repeatable)
    .option('--check-revocation', 'ask the addresses in the certificates (OCSP, CRL) whether they were revoked')
    .option('--timeout <seconds>', 'limit for one such request (default 30)')
    .option('--ca-file <pem>', 'further roots to trust for TLS in such requests')
    .option(...PROXY)
    .option('--recursive', 'take folders: every file in them of a format that is signed')
    .option(...EXCLUDE)
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('-q, --quiet', 'only what is wrong').conflicts('verbose'))
    .option('-v, --verbose', 'say more: every certificate of the chains, warnings')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((files: string[], options: VerifyCommandOptions) =>
      run(async (io) => {
        const { verify } = await import('../commands/verify.ts');
        return verify(files, options, io);
      }),
    );
}

const EXAMPLES = `
Without --roots a signer is trusted whose chain ends at one of the system's roots (SSL_CERT_FILE, or the distribution's
bundle). Those are the web's: Microsoft's and Oracle's own programmes trust others.

Verdicts: trusted; intact (the same with --integrity-only); not-accepted (not what --signer and the like ask for); untrusted
(intact, but its signer or timestamp is not trusted); broken; unsigned. The worst of a file's signatures counts.

Examples:
  codesign-remote verify --roots root.pem app.exe
  codesign-remote verify --signer "My Company" --require-timestamp "dist/*"
  codesign-remote verify --integrity-only --json app.jar

Exit codes: 0 every file is good, 2 usage, 6 a file cannot be read or is of no known format, 8 a signature is missing,
broken or not trusted, 9 both`;
