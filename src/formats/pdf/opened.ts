import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ContentDigest } from '../../crypto/content.ts';
import { openDocument, type PdfDocument } from '../../pdf-syntax/document.ts';
import type { ContentReader } from '../format.ts';
import { readSignatureFields, type SignatureFields, type StoredSignature } from './stored.ts';

/** A document that is open, with what is remembered of it. */
export interface OpenedPdf extends SignatureFields {
  readonly document: PdfDocument;
  readonly reader: ContentReader;
  /** Of what a signature covers; undefined if that is unknown. The content is read once for each signature and algorithm. */
  digest(stored: StoredSignature, algorithm: ContentDigest): Promise<Uint8Array | undefined>;
}

export async function openWith(source: ByteSource, reader: ContentReader): Promise<OpenedPdf> {
  const document = await openDocument(source);
  const fields = await readSignatureFields(document);
  const digests = new Map<string, Promise<Uint8Array | undefined>>();
  return {
    document,
    ...fields,
    reader,
    async digest({ ranges }, algorithm) {
      if (ranges === undefined) return undefined;
      const key = `${algorithm} ${ranges[0].end} ${ranges[1].end}`;
      const measuring =
        digests.get(key) ??
        reader.measure(source, ranges, [algorithm]).then((measured) => measured.digests.get(algorithm));
      digests.set(key, measuring);
      return measuring;
    },
  };
}
