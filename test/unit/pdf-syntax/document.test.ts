import { expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { openDocument } from '../../../src/pdf-syntax/document.ts';
import { makePdf } from '../formats/pdf/make-pdf.ts';

it('rejects an object stream whose length is in it, instead of waiting for itself', async () => {
  const objects = ['<< /Type /ObjStm /N 1 /First 4 /Length 6 0 R >>\nstream\n6 0 6\nendstream'];
  const bytes = makePdf({ references: 'stream', objects, inStreams: [[6, 5]] });
  const document = await openDocument(memorySource(bytes));
  await expect(document.object(6)).rejects.toMatchObject({ code: 'pdf-cross-reference-broken' });
});
