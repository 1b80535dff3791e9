import type { Format } from '../../format/format.ts';
import { hasTrace } from '../trace.ts';
import { PDF_OPTIONS } from './options.ts';

/**
 * Readers accept up to this many bytes before the PDF header. A file with bytes before its header is recognised only by
 * its extension.
 */
const HEADER_WITHIN = 1024;

export const pdf = {
  id: 'pdf',
  title: 'PDF document',
  extensions: ['.pdf'],
  onlyIfNamed: ['.pdf'],
  signing: { options: PDF_OPTIONS, modes: ['append'], signsTime: true },
  purpose: 'document-signing',
  recognition: {
    by: 'bytes',
    claims(head, name) {
      const index = Buffer.from(head.subarray(0, HEADER_WITHIN)).indexOf('%PDF-');
      return index === 0 || (index > 0 && name.toLowerCase().endsWith('.pdf'));
    },
  },
  open: async (source, reader) => (await import('./open-pdf.ts')).openPdf(source, reader),
  // An encrypted document may contain signatures that a search cannot find.
  seemsSigned: hasTrace(/\/ByteRange|\/Encrypt/),
} as const satisfies Format;
