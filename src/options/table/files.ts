import { CALL_OUTCOMES } from '../../journal/journal.ts';
import { number, type OptionTable, oneOf, path, text, type ValueKind } from '../option.ts';
import { refuse } from '../values.ts';

const namedPath: ValueKind<string> = {
  ...path,
  read: (given) => (given.value === '-' ? refuse(given, 'a path', given.value) : path.read(given)),
};

export const FILES_OPTIONS = {
  output: {
    flag: '--output',
    short: '-o',
    placeholder: 'path',
    kind: namedPath,
    defaultText: 'in place',
    stored: 'project',
    help: 'output file, or output folder if several files are written',
    commands: ['sign', 'catalog', 'verify', 'timestamp', 'remove', 'attach', 'extract'],
    isCommandLineOnly: true,
    in: {
      verify: { help: 'path of the new policy', defaultText: 'codesign-policy.json', isTypedOnly: true },
      catalog: { help: 'path of the new catalog; required', defaultText: '' },
      timestamp: { isTypedOnly: true },
      attach: { help: 'output file' },
      extract: { help: 'output file', defaultText: 'standard output' },
    },
  },
  recursive: {
    flag: '--recursive',
    help: 'process all supported files in folders and their subfolders',
    commands: ['sign', 'catalog', 'verify', 'timestamp', 'remove'],
    isCommandLineOnly: true,
    in: {
      catalog: { help: 'add all files in folders and their subfolders to the catalog' },
    },
  },
  inside: {
    flag: '--inside',
    help: 'also verify the files inside archives and packages; implies --recursive',
    conflicts: ['catalog'],
    commands: ['sign', 'verify'],
    in: { sign: { help: 'also sign programs and installers inside archives; implies --recursive' } },
    isCommandLineOnly: true,
  },
  policy: {
    flag: '--policy',
    placeholder: 'file',
    kind: path,
    help: 'policy file that states which files must be signed and by whom; implies --inside',
    conflicts: ['signer', 'requireTimestamp', 'algorithmAtLeast', 'integrityOnly', 'catalog'],
    commands: ['sign', 'verify'],
    in: { sign: { help: 'policy file that states which files to sign; implies --inside', conflicts: [] } },
    isCommandLineOnly: true,
  },
  maxUnpacked: {
    flag: '--max-unpacked',
    placeholder: 'GiB',
    kind: number({ isWhole: true, from: 1, to: 1024 }, 1024 ** 3),
    default: '16',
    help: 'maximum total unpacked size of one file and all files inside it; implies --inside',
    conflicts: ['catalog'],
    commands: ['verify'],
    isCommandLineOnly: true,
  },
  why: {
    flag: '--why',
    placeholder: 'location',
    kind: text,
    help: 'print the result and the policy rule for the file at this location; implies --inside',
    conflicts: ['catalog', 'json', 'printPolicy'],
    commands: ['verify'],
    isCommandLineOnly: true,
  },
  printPolicy: {
    flag: '--print-policy',
    help: 'create a policy for the given files, and a file with the root certificates of their signers; implies --inside',
    conflicts: ['policy', 'catalog', 'integrityOnly', 'json'],
    commands: ['verify'],
    isCommandLineOnly: true,
  },
  exclude: {
    flag: '--exclude',
    placeholder: 'pattern',
    kind: text,
    isList: true,
    help: 'files and folders to skip, by name ("*.node") or path ("dist/vendor/**")',
    commands: ['sign', 'catalog', 'verify', 'timestamp', 'remove'],
    isCommandLineOnly: true,
  },
  checksums: {
    flag: '--checksums',
    placeholder: 'file',
    kind: namedPath,
    help: 'output file for the SHA-256 digests of the signed files, in the format of sha256sum',
    commands: ['sign'],
    isCommandLineOnly: true,
  },
} as const satisfies OptionTable;

export const CALLS_OPTIONS = {
  forget: {
    flag: '--forget',
    placeholder: 'id...',
    kind: text,
    isList: true,
    help: 'ids of the unfinished service calls to discard permanently',
    commands: ['resume'],
  },
  forgetUnknown: {
    flag: '--forget-unknown',
    help: 'permanently discard all service calls with an unknown outcome',
    commands: ['resume'],
  },
  since: {
    flag: '--since',
    placeholder: 'YYYY-MM',
    kind: text,
    help: 'earliest month of the service calls to list',
    commands: ['history'],
  },
  limit: {
    flag: '--limit',
    placeholder: 'n',
    kind: number({ isWhole: true, from: 1, to: 1_000_000 }),
    help: 'number of most recent service calls to list',
    commands: ['history'],
  },
  file: {
    flag: '--file',
    placeholder: 'pattern',
    kind: text,
    isList: true,
    help: 'list only service calls for files whose name ("*.exe") or path ("dist/**") matches this pattern',
    commands: ['history'],
  },
  outcome: {
    flag: '--outcome',
    placeholder: 'word',
    kind: oneOf(CALL_OUTCOMES),
    isList: true,
    help: 'list only service calls with this outcome',
    commands: ['history'],
  },
} as const satisfies OptionTable;
