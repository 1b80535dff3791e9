/** Options that choose files or journal calls. */

import { CALL_OUTCOMES } from '../../journal/journal.ts';
import { number, type OptionTable, oneOf, path, text, type ValueKind } from '../option.ts';
import { refuse } from '../values.ts';

/** Path of a file to be written. */
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
    help: 'file to write the result of one input to, or folder for the results of several',
    commands: ['sign', 'catalog', 'timestamp', 'remove', 'attach', 'extract'],
    in: {
      catalog: { help: 'file to write the catalog to; required', defaultText: '' },
      timestamp: { isTypedOnly: true },
      attach: { help: 'file to write the result to' },
      extract: { help: 'file to write the result to', defaultText: 'standard output' },
    },
  },
  recursive: {
    flag: '--recursive',
    help: 'process all supported files in folders and their subfolders',
    commands: ['sign', 'catalog', 'verify', 'timestamp', 'remove'],
    isCommandLineOnly: true,
    in: {
      catalog: { help: 'list all files in folders and their subfolders' },
    },
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
    help: 'file to write the SHA-256 of each signed file to, in the format of sha256sum',
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
    help: 'ids of calls to give up permanently; nothing else is finished',
    commands: ['resume'],
  },
  forgetUnknown: {
    flag: '--forget-unknown',
    help: 'give up all calls with an unknown outcome permanently',
    commands: ['resume'],
  },
  since: {
    flag: '--since',
    placeholder: 'YYYY-MM',
    kind: text,
    help: 'first month to list',
    commands: ['history'],
  },
  limit: {
    flag: '--limit',
    placeholder: 'n',
    kind: number({ isWhole: true, from: 1, to: 1_000_000 }),
    help: 'number of most recent calls to list',
    commands: ['history'],
  },
  file: {
    flag: '--file',
    placeholder: 'pattern',
    kind: text,
    isList: true,
    help: 'name ("*.exe") or path ("dist/**") of files whose calls are listed',
    commands: ['history'],
  },
  outcome: {
    flag: '--outcome',
    placeholder: 'word',
    kind: oneOf(CALL_OUTCOMES),
    isList: true,
    help: 'outcome of the calls to list',
    commands: ['history'],
  },
} as const satisfies OptionTable;
