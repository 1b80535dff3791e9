import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';
import { hasTrace, inAnyEncoding } from '../trace.ts';

const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

export const msi = {
  id: 'msi',
  title: 'Windows Installer (MSI)',
  extensions: ['.msi', '.msp', '.mst'],
  signing: { options: PROGRAM_OPTIONS, modes: ['replace', 'append'] },
  purpose: 'code-signing',
  // Recognises every compound file, so that the error for an Office document can state the type of the document.
  recognition: { by: 'bytes', claims: (head) => COMPOUND_FILE.equals(head.subarray(0, 8)) },
  open: async (source, reader) => (await import('./open-msi.ts')).openMsi(source, reader),
  seemsSigned: hasTrace(inAnyEncoding('DigitalSignature')),
} as const satisfies Format;
