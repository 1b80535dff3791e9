import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';
import { hasTrace } from '../trace.ts';

export const navx = {
  id: 'navx',
  title: 'Business Central extension (NAVX)',
  extensions: ['.app', '.navx'],
  signing: { options: PROGRAM_OPTIONS, modes: ['replace'] },
  purpose: 'code-signing',
  recognition: { by: 'bytes', claims: (head) => Buffer.from(head.subarray(0, 4)).toString('latin1') === 'NAVX' },
  open: async (source, reader) => (await import('./open-navx.ts')).openNavx(source, reader),
  seemsSigned: hasTrace(/NXSB/),
} as const satisfies Format;
