import { extraMember } from '../extra.ts';
import { number, type OptionTable, oneOf, path, text } from '../option.ts';

const FILE_COMMANDS = ['sign', 'catalog', 'verify', 'timestamp', 'remove'] as const;
const QUIETABLE = [...FILE_COMMANDS, 'attach', 'inspect', 'extract', 'resume', 'login', 'logout'] as const;

export const LIMITS_OPTIONS = {
  concurrency: {
    flag: '--concurrency',
    short: '-j',
    placeholder: 'n',
    kind: number({ isWhole: true, from: 1, to: 256 }),
    variable: 'CODESIGN_CONCURRENCY',
    default: '4',
    stored: 'both',
    help: 'maximum number of concurrent requests',
    commands: ['sign', 'timestamp', 'resume'],
    in: {
      timestamp: { help: 'maximum number of files processed concurrently' },
      resume: { help: 'maximum number of files and reports processed concurrently' },
    },
  },
  timeout: {
    flag: '--timeout',
    placeholder: 'seconds',
    // The user types seconds; the value is in milliseconds.
    kind: number({ isWhole: false, from: 0.1, to: 3600 }, 1000),
    variable: 'CODESIGN_TIMEOUT',
    default: '30',
    stored: 'profile',
    help: 'time limit for each request attempt, including the response',
    commands: ['sign', 'verify', 'timestamp', 'resume', 'login', 'whoami', 'doctor'],
    in: { verify: { help: 'time limit for each revocation request', isTypedOnly: true } },
  },
  allOrNothing: {
    flag: '--all-or-nothing',
    help: 'request no signatures unless every file can be signed',
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
    help: 'maximum number of requests with an unknown outcome to send again; the service may count each request twice',
    commands: ['sign'],
  },
} as const satisfies OptionTable;

export const PRIVACY_OPTIONS = {
  fileName: {
    flag: '--file-name',
    placeholder: 'what',
    kind: oneOf(['send', 'hide']),
    variable: 'CODESIGN_FILE_NAME',
    default: 'send',
    stored: 'profile',
    help: 'whether requests to the service include the base name of the file',
    commands: ['sign'],
  },
  extra: {
    flag: '--extra',
    placeholder: 'key=value',
    kind: extraMember,
    isList: true,
    stored: 'profile',
    help: 'client information field to set in requests (an empty value omits the field)',
    commands: ['sign'],
  },
  report: {
    flag: '--no-report',
    help: 'do not report outcomes to the service',
    commands: ['sign', 'resume'],
    in: { resume: { help: 'do not report outcomes to the service; discard pending reports' } },
  },
  journal: {
    flag: '--no-journal',
    help: 'keep no journal; unused signatures are lost and must be paid for again',
    commands: ['sign'],
  },
  auditLog: {
    flag: '--audit-log',
    placeholder: 'file',
    kind: path,
    variable: 'CODESIGN_AUDIT_LOG',
    stored: 'profile',
    help: 'log file for all requests to the service, with secrets masked',
    commands: ['sign', 'resume'],
  },
} as const satisfies OptionTable;

export const OUTPUT_OPTIONS = {
  index: {
    flag: '--index',
    placeholder: 'n',
    kind: text,
    default: '1',
    help: 'number of the signature, as shown by `inspect`',
    commands: ['extract'],
    isCommandLineOnly: true,
  },
  pem: {
    flag: '--pem',
    help: 'write the signature in PEM format (BEGIN PKCS7) instead of DER',
    commands: ['extract'],
    isCommandLineOnly: true,
  },
  certificates: {
    flag: '--certificates',
    help: 'print all certificates in PEM format instead of the report',
    conflicts: ['json'],
    commands: ['inspect'],
    isCommandLineOnly: true,
  },
  origin: {
    flag: '--origin',
    help: 'show the source of each setting',
    commands: ['config list'],
    isCommandLineOnly: true,
  },
  dryRun: {
    flag: '--dry-run',
    help: 'show the digests to sign, but send no requests and change no files',
    commands: ['sign', 'catalog', 'resume'],
    in: {
      catalog: { help: 'write nothing' },
      resume: { help: 'list unfinished service calls, but send no requests and change no files' },
    },
  },
  json: {
    flag: '--json',
    help: 'print one JSON document on standard output',
    commands: [...FILE_COMMANDS, 'attach', 'inspect', 'resume', 'history', 'whoami', 'doctor', 'config list'],
    isCommandLineOnly: true,
  },
  quiet: {
    flag: '--quiet',
    short: '-q',
    help: 'print errors only',
    conflicts: ['verbose'],
    commands: QUIETABLE,
    in: { verify: { help: 'print only files with problems' } },
    isCommandLineOnly: true,
  },
  verbose: {
    flag: '--verbose',
    short: '-v',
    help: 'print more details, such as service calls, the start of each file, and the causes of errors',
    commands: [...QUIETABLE, 'whoami'],
    in: { verify: { help: 'print more details: all certificates in the chains and all warnings' } },
    isCommandLineOnly: true,
  },
} as const satisfies OptionTable;
