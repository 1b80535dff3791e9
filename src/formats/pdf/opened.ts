import type { ByteSource } from '../../bytes/byte-source.ts';
import { onceOf, remembering } from '../../bytes/reuse.ts';
import type { ContentDigest } from '../../crypto/content.ts';
import { openDocument, type PdfDocument } from '../../pdf-syntax/document.ts';
import type { ContentReader } from '../format.ts';
import { readSignatureFields, type SignatureFields, type StoredSignature } from './stored.ts';

/** A document that is open, with what is remembered of it. */
export interface OpenedPdf extends SignatureFields {
  readonly document: PdfDocument;
  readonly reader: ContentReader;
  /** False if one more comparison with a signed revision is too many: then it must not be made. */
  takeComparison(): boolean;
  /** Of what a signature covers; undefined if that is unknown. The content is read once for each signature and algorithm. */
  digest(stored: StoredSignature, algorithm: ContentDigest): Promise<Uint8Array | undefined>;
}

/** Objects in use, so often as there are signatures. */
const MAX_COMPARED = 500_000;
/** A number that is free is read and not compared. */
const COST_OF_FREE = 0.1;

export async function openWith(source: ByteSource, reader: ContentReader): Promise<OpenedPdf> {
  const document = await openDocument(inBlocks(source));
  let left = MAX_COMPARED;
  const cost = onceOf(() => costOf(document));
  const fields = await readSignatureFields(document);
  const digests = new Map<string, Promise<Uint8Array | undefined>>();
  return {
    document,
    ...fields,
    takeComparison() {
      left -= cost();
      return left >= 0;
    },
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

function costOf({ sections }: PdfDocument): number {
  let cost = 0;
  for (const section of sections) {
    section.forEach((_number, { type }) => {
      cost += type === 'free' ? COST_OF_FREE : 1;
    });
  }
  return cost;
}

const BLOCK = 16 * 1024;
const BLOCKS_KEPT = 64;

/** Keeps what was read last: objects are small, many, and read several times. */
function inBlocks(source: ByteSource): ByteSource {
  const blockAt = remembering(BLOCKS_KEPT, String, (index: number) =>
    source.read(index * BLOCK, Math.min(BLOCK, source.size - index * BLOCK)),
  );
  return {
    ...source,
    async read(offset, length) {
      const first = Math.floor(offset / BLOCK);
      const isInOne = length > 0 && offset >= 0 && offset + length <= Math.min((first + 1) * BLOCK, source.size);
      if (!isInOne) return source.read(offset, length);
      const start = offset - first * BLOCK;
      return (await blockAt(first)).subarray(start, start + length);
    },
  };
}
