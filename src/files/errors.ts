/** What the operating system, or a first look, says against a file: for every command that opens one. */

import { defineErrors } from '../errors/define-errors.ts';

export const fileErrors = defineErrors({
  'file-not-found': {
    category: 'local',
    message: 'there is no such file',
    hint: 'Check the path. A pattern with * must match at least one file.',
  },
  'name-not-utf8': {
    category: 'local',
    message: (d: { name: string }) =>
      `the name ${d.name} holds bytes that are not UTF-8, so the file cannot be reached by it`,
    hint: 'Rename it, in UTF-8. The program convmv does that for whole folders.',
  },
  'broken-link': {
    category: 'local',
    message: (d: { path: string; leadsTo: string }) => `${d.path} is a link that leads nowhere: to ${d.leadsTo}`,
    hint: 'Mend or remove the link, or name the file itself.',
  },
  'link-loop': {
    category: 'local',
    message: (d: { doing: string }) => `the links on the way lead in a circle, so it was not possible to ${d.doing}`,
    hint: 'Mend the links (ls -l shows where they lead), or name the file itself.',
  },
  'not-a-file': {
    category: 'local',
    message: (d: { kind: string }) => `this is ${d.kind}, not a file`,
    hint: 'Name files; commands that take several take a folder with --recursive.',
  },
  'permission-denied': {
    category: 'local',
    message: (d: { doing: string }) => `no permission to ${d.doing}`,
    hint: 'Signing needs to read the file, and to write to it and to its folder. Check the owner and the permissions, or use --output.',
  },
  'disk-full': {
    category: 'local',
    message: (d: { doing: string }) => `no space left on the disk to ${d.doing}`,
    hint: 'Signing writes a copy beside the target first: it needs as much free space as the file is large.',
  },
  'file-busy': {
    category: 'local',
    message: (d: { doing: string }) => `another program holds the file, so it was not possible to ${d.doing}`,
    hint: 'Close the program that uses it. Antivirus programs and indexers let go after a moment: try again.',
  },
  'file-system': {
    category: 'local',
    message: (d: { doing: string; reason: string }) => `could not ${d.doing}: ${d.reason}`,
    hint: 'Check the disk and the path.',
  },
});
