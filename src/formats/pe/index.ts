import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';
import { PAGE_HASHES } from './options.ts';

export const pe = {
  id: 'pe',
  title: 'Windows PE (Authenticode)',
  extensions: ['.exe', '.dll', '.sys', '.efi', '.node', '.ocx', '.scr', '.cpl', '.drv', '.mui', '.ax', '.winmd'],
  signing: { options: [...PROGRAM_OPTIONS, PAGE_HASHES], modes: ['replace', 'append'] },
  purpose: 'code-signing',
  // Recognises every file that begins with MZ, so that the error for a DOS or 16-bit program states its type.
  recognition: { by: 'bytes', claims: (head) => head[0] === 0x4d && head[1] === 0x5a },
  open: async (source, reader) => (await import('./open-pe.ts')).openPe(source, reader),
  seemsSigned: async (source) => (await import('./layout.ts')).seemsSigned(source),
} as const satisfies Format;
