/** Options that limit a run, and say what the service is sent and how it is reached. */

import { extraMember } from '../extra.ts';
import { number, type OptionDefinition, oneOf, path, proxyAddress } from '../option.ts';

const FILE_COMMANDS = ['sign', 'catalog', 'verify', 'timestamp', 'remove'] as const;
const QUIETABLE = [...FILE_COMMANDS, 'attach', 'inspect', 'extract', 'resume', 'login', 'logout'] as const;

export const RUN_OPTIONS = {
  concurrency: {
    flag: '--concurrency',
    short: '-j',
    placeholder: 'n',
    kind: number({ isWhole: true, from: 1, to: 256 }),
    variable: 'CODESIGN_CONCURRENCY',
    default: '4',
    stored: 'both',
    help: 'number of concurrent requests',
    commands: ['sign', 'timestamp', 'resume'],
    in: {
      timestamp: { help: 'number of concurrent files' },
      resume: { help: 'number of concurrent files and reports' },
    },
  },
  /** In seconds. */
  timeout: {
    flag: '--timeout',
    placeholder: 'seconds',
    // Read as milliseconds.
    kind: number({ isWhole: false, from: 0.1, to: 3600 }, 1000),
    variable: 'CODESIGN_TIMEOUT',
    default: '30',
    stored: 'profile',
    help: 'time limit for one attempt of one request',
    commands: ['sign', 'verify', 'timestamp', 'resume', 'login', 'whoami'],
    in: { verify: { help: 'time limit for one request for revocation', isTypedOnly: true } },
  },
  allOrNothing: {
    flag: '--all-or-nothing',
    help: 'no signature requests when one of the files cannot be signed',
    commands: ['sign'],
  },
  maxSignatures: {
    flag: '--max-signatures',
    placeholder: 'n',
    kind: number({ isWhole: true, from: 0, to: 1_000_000 }),
    variable: 'CODESIGN_MAX_SIGNATURES',
    stored: 'profile',
    help: 'maximum number of signatures that a run may request',
    commands: ['sign'],
  },
  repeatUnknown: {
    flag: '--repeat-unknown',
    placeholder: 'n',
    kind: number({ isWhole: true, from: 0, to: 1_000_000 }),
    variable: 'CODESIGN_REPEAT_UNKNOWN',
    default: '0',
    stored: 'profile',
    help: 'requests without an answer that may be sent once more, although each may be counted twice',
    commands: ['sign'],
  },
  fileName: {
    flag: '--file-name',
    placeholder: 'what',
    kind: oneOf(['send', 'hide']),
    variable: 'CODESIGN_FILE_NAME',
    default: 'send',
    stored: 'profile',
    help: 'file name, without folders, in requests to the service',
    commands: ['sign'],
  },
  extra: {
    flag: '--extra',
    placeholder: 'key=value',
    kind: extraMember,
    isList: true,
    stored: 'profile',
    help: 'replacement for data about client and file sent to the service, empty to leave it out',
    commands: ['sign'],
  },
  report: {
    flag: '--no-report',
    help: 'no report of the outcome to the service',
    commands: ['sign', 'resume'],
    in: { resume: { help: 'no report of the outcome to the service; pending reports are dropped' } },
  },
  /** False: no journal. */
  journal: {
    flag: '--no-journal',
    help: 'no journal: a signature that could not be used is lost, and paid for again',
    commands: ['sign'],
  },
  /** Path of a file to which a record of each call is added. */
  auditLog: {
    flag: '--audit-log',
    placeholder: 'file',
    kind: path,
    variable: 'CODESIGN_AUDIT_LOG',
    stored: 'profile',
    help: 'file to which a masked record of each call is added',
    commands: ['sign', 'resume'],
  },
  caFile: {
    flag: '--ca-file',
    placeholder: 'pem',
    kind: path,
    variable: 'CODESIGN_CA_FILE',
    stored: 'profile',
    help: 'additional root certificates to trust for TLS',
    commands: ['sign', 'verify', 'timestamp', 'resume', 'init', 'login', 'whoami'],
    in: { verify: { isTypedOnly: true } },
  },
  proxy: {
    flag: '--proxy',
    placeholder: 'url',
    kind: proxyAddress,
    otherVariables: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    stored: 'profile',
    help: 'proxy for requests to other machines',
    commands: ['sign', 'verify', 'timestamp', 'resume', 'login', 'whoami'],
  },
  dryRun: {
    flag: '--dry-run',
    help: 'run without requests and changes; shows the digests',
    commands: ['sign', 'catalog', 'resume'],
    in: {
      catalog: { help: 'run that writes nothing' },
      resume: { help: 'list of what is unfinished, without requests and changes' },
    },
  },
  yes: {
    flag: '--yes',
    short: '-y',
    help: 'no questions: values come from options, environment and profile',
    commands: ['init'],
    isCommandLineOnly: true,
  },
  origin: {
    flag: '--origin',
    help: 'source of each setting',
    commands: ['config list'],
    isCommandLineOnly: true,
  },
  certificates: {
    flag: '--certificates',
    help: 'all certificates as PEM instead of the report',
    conflicts: ['json'],
    commands: ['inspect'],
    isCommandLineOnly: true,
  },
  json: {
    flag: '--json',
    help: 'one JSON document on standard output',
    commands: [...FILE_COMMANDS, 'attach', 'inspect', 'resume', 'history', 'whoami', 'config list'],
    isCommandLineOnly: true,
  },
  quiet: {
    flag: '--quiet',
    short: '-q',
    help: 'errors only',
    conflicts: ['verbose'],
    commands: [...FILE_COMMANDS, 'attach', 'inspect', 'extract', 'resume', 'login', 'logout'],
    in: { verify: { help: 'files with problems only' } },
    isCommandLineOnly: true,
  },
  verbose: {
    flag: '--verbose',
    short: '-v',
    help: 'more details: each start, each call, causes of errors',
    commands: [...QUIETABLE, 'whoami'],
    in: { verify: { help: 'more details: every certificate of the chains, warnings' } },
    isCommandLineOnly: true,
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;
