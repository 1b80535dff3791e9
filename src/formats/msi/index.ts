import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import { SIGNATURE } from '../../compound-file/format.ts';
import type { Format } from '../../format/format.ts';
import { hasTrace, inAnyEncoding } from '../trace.ts';

export const msi = {
  id: 'msi',
  title: 'Windows Installer (MSI)',
  extensions: ['.msi', '.msp', '.mst'],
  signing: { options: PROGRAM_OPTIONS, modes: ['replace', 'append'] },
  purpose: 'code-signing',
  // Recognises every compound file, so that the error for an Office document can state the type of the document.
  recognition: { by: 'bytes', claims: (head) => SIGNATURE.equals(head.subarray(0, 8)) },
  open: async (source, reader) => (await import('./open-msi.ts')).openMsi(source, reader),
  seemsSigned: hasTrace(inAnyEncoding('DigitalSignature')),
} as const satisfies Format;
