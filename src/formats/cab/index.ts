import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';

export const cab = {
  id: 'cab',
  title: 'Cabinet (CAB)',
  extensions: ['.cab'],
  signing: { options: PROGRAM_OPTIONS, modes: ['replace', 'append'] },
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: (head) => Buffer.from(head.subarray(0, 4)).toString('latin1') === 'MSCF' },
  open: async (source, reader) => (await import('./open-cab.ts')).openCab(source, reader),
  seemsSigned: async (source) => (await import('./layout.ts')).seemsSigned(source),
} as const satisfies Format;
