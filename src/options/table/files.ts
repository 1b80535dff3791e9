/** Options that choose files, and what happens to signatures that they have. */

import { type OptionDefinition, path, text } from '../option.ts';

export const FILE_OPTIONS = {
  output: {
    flag: '--output',
    short: '-o',
    placeholder: 'path',
    kind: path,
    defaultText: 'in place',
    stored: 'project',
    help: 'file for the result of one input, or folder for the results of several',
    commands: ['sign', 'timestamp', 'remove', 'attach', 'extract'],
    in: {
      attach: { help: 'file for the result' },
      extract: { help: 'file for the result', defaultText: 'standard output' },
    },
  },
  replace: {
    flag: '--replace',
    help: 'replacement of existing signatures (default)',
    conflicts: ['append', 'skipSigned'],
    commands: ['sign'],
  },
  append: {
    flag: '--append',
    help: 'signature in addition to existing ones',
    conflicts: ['skipSigned'],
    commands: ['sign'],
  },
  skipSigned: {
    flag: '--skip-signed',
    help: 'no change to files with an intact signature of this certificate',
    commands: ['sign'],
  },
  recursive: {
    flag: '--recursive',
    help: 'all supported files in folders and their subfolders',
    commands: ['sign', 'verify', 'timestamp', 'remove'],
    isCommandLineOnly: true,
  },
  exclude: {
    flag: '--exclude',
    placeholder: 'pattern',
    kind: text,
    isList: true,
    help: 'files and folders to skip, by name ("*.node") or path ("dist/vendor/**")',
    commands: ['sign', 'verify', 'timestamp', 'remove'],
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
    placeholder: 'id',
    kind: text,
    isList: true,
    help: 'call to give up for good; nothing else is finished',
    commands: ['resume'],
    isCommandLineOnly: true,
  },
  since: {
    flag: '--since',
    placeholder: 'YYYY-MM',
    kind: text,
    help: 'first month to list',
    commands: ['history'],
    isCommandLineOnly: true,
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;
