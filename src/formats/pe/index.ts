/** Portable Executable: Windows programs, libraries, drivers and EFI programs. What opens one is loaded when one is opened. */

import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import { endsLikeArchive } from '../../zip/end-record.ts';
import type { Format } from '../format.ts';
import { isNamedAsJar } from '../zip-family.ts';

export const pe = {
  id: 'pe',
  title: 'Windows PE (Authenticode)',
  extensions: ['.exe', '.dll', '.sys', '.efi', '.node', '.ocx', '.scr', '.cpl', '.drv', '.mui', '.ax', '.winmd'],
  options: PROGRAM_OPTIONS,
  modes: ['replace', 'append'],
  defaultMode: 'replace',
  purpose: 'code-signing',
  // Any MZ program, so that a DOS or a 16 bit one is told what it is instead of being an unknown file. One that a JAR was
  // put behind is both; it is signed as what its name says.
  async detect(head, source, name) {
    return head[0] === 0x4d && head[1] === 0x5a && !(isNamedAsJar(name) && (await endsLikeArchive(source)));
  },
  open: async (source, reader) => (await import('./open-pe.ts')).openPe(source, reader),
} as const satisfies Format;
