/** Options that choose files, and what happens to signatures that they have. */

import { CALL_OUTCOMES } from '../../journal/journal.ts';
import { number, type OptionDefinition, oneOf, path, text, type ValueKind } from '../option.ts';
import { refuse } from '../values.ts';

/** A file that is written. */
const namedPath: ValueKind<string> = {
  ...path,
  read: (given) => (given.value === '-' ? refuse(given, 'a path', given.value) : path.read(given)),
};

export const FILE_OPTIONS = {
  output: {
    flag: '--output',
    short: '-o',
    placeholder: 'path',
    kind: namedPath,
    defaultText: 'in place',
    stored: 'project',
    help: 'file for the result of one input, or folder for the results of several',
    commands: ['sign', 'catalog', 'timestamp', 'remove', 'attach', 'extract'],
    in: {
      catalog: { help: 'file for the catalog; must be given', defaultText: '' },
      timestamp: { isTypedOnly: true },
      attach: { help: 'file for the result' },
      extract: { help: 'file for the result', defaultText: 'standard output' },
    },
  },
  replace: {
    flag: '--replace',
    defaultText: 'for named files',
    help: 'replacement of existing signatures',
    conflicts: ['append', 'skipSigned', 'skipAnySigned'],
    commands: ['sign', 'catalog'],
    in: {
      catalog: { help: 'replacement of an existing file', defaultText: '' },
    },
  },
  append: {
    flag: '--append',
    help: 'signature in addition to existing ones',
    conflicts: ['skipSigned', 'skipAnySigned'],
    commands: ['sign'],
  },
  skipSigned: {
    flag: '--skip-signed',
    help: 'no change to files with an intact signature of this certificate',
    commands: ['sign'],
  },
  skipAnySigned: {
    flag: '--skip-any-signed',
    help: 'no change to files with an intact signature of any signer',
    commands: ['sign'],
  },
  recursive: {
    flag: '--recursive',
    help: 'all supported files in folders and their subfolders',
    commands: ['sign', 'catalog', 'verify', 'timestamp', 'remove'],
    isCommandLineOnly: true,
    in: {
      catalog: { help: 'all files in folders and their subfolders' },
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
    help: 'file for the SHA-256 of each signed file, as sha256sum writes it',
    commands: ['sign'],
    isCommandLineOnly: true,
  },
  pem: {
    flag: '--pem',
    help: 'PEM with the label PKCS7 instead of DER',
    commands: ['extract'],
    isCommandLineOnly: true,
  },
  index: {
    flag: '--index',
    placeholder: 'n',
    kind: text,
    default: '1',
    help: 'number of the signature, as shown by inspect',
    commands: ['extract'],
    isCommandLineOnly: true,
  },
  forget: {
    flag: '--forget',
    placeholder: 'id...',
    kind: text,
    isList: true,
    help: 'calls to give up permanently; nothing else is finished',
    commands: ['resume'],
  },
  forgetUnknown: {
    flag: '--forget-unknown',
    help: 'as --forget, for all calls with an unknown outcome',
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
    help: 'number of calls to list: the latest',
    commands: ['history'],
  },
  file: {
    flag: '--file',
    placeholder: 'pattern',
    kind: text,
    isList: true,
    help: 'only calls for files of this name ("*.exe") or path ("dist/**")',
    commands: ['history'],
  },
  outcome: {
    flag: '--outcome',
    placeholder: 'word',
    kind: oneOf(CALL_OUTCOMES),
    isList: true,
    help: 'only calls with this outcome',
    commands: ['history'],
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;
