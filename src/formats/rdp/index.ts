import type { Format } from '../../format/format.ts';
import { hasTrace, inAnyEncoding } from '../trace.ts';

const isNamedRdp = (name: string): boolean => name.toLowerCase().endsWith('.rdp');

export const rdp = {
  id: 'rdp',
  title: 'Remote Desktop connection (RDP)',
  extensions: ['.rdp'],
  // Users who sign a folder rarely want to sign its connection files.
  onlyIfNamed: ['.rdp'],
  signing: { options: [], modes: ['replace'], keepsExtension: true },
  purpose: 'remote-desktop',
  recognition: { by: 'bytes', claims: (head, name) => head.length > 0 && isNamedRdp(name) },
  open: async (source, reader) => (await import('./open-rdp.ts')).openRdp(source, reader),
  seemsSigned: hasTrace(inAnyEncoding('signature:s:')),
} as const satisfies Format;
