import { digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { octetsOf } from '../../asn1/read.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { lazy, memoize } from '../../bytes/reuse.ts';
import type { SignedData } from '../../cms/parse-signed-data.ts';
import type { ContentDigest } from '../../crypto/measure-content.ts';
import { CodesignError, orUndefined } from '../../errors/codesign-error.ts';
import type { Finding } from '../../errors/finding.ts';
import type { ContentReader } from '../../format/signable-file.ts';
import { openDocument, type PdfDocument } from '../../pdf-syntax/document.ts';
import { readTimestampToken } from '../../timestamp/read-token.ts';
import type { Timestamp } from '../../timestamp/timestamp.ts';
import { readTstInfo } from '../../timestamp/tst-info.ts';
import type { Settled } from './examine/compare.ts';
import { unlistedBytes } from './examine/later-bytes.ts';
import { endOf, readSignatureFields, type SignatureFields, type StoredSignature, signedDataOf } from './stored.ts';

export interface OpenedPdf extends SignatureFields {
  readonly document: PdfDocument;
  readonly reader: ContentReader;
  takeComparison(): boolean;
  /**
   * Reads the content only once for each covered range and algorithm. Returns undefined if it is unknown which bytes
   * the signature covers.
   */
  digest(stored: StoredSignature, algorithm: ContentDigest): Promise<Uint8Array | undefined>;
  /**
   * Verifies the token of a document timestamp only once. The findings do not include changes that were made after the
   * timestamp.
   */
  timestamp(stored: StoredSignature): Promise<Timestamp>;
  readonly revisions: Map<StoredSignature, Promise<readonly Finding[]>>;
  readonly settled: Settled;
  unlisted(): Promise<readonly ByteRange[]>;
}

/** Limit on the number of objects in use, multiplied by the number of signatures. */
const MAX_COMPARED = 500_000;
/** A free object number takes less time than an object in use, because its entry is read but nothing is compared. */
const COST_OF_FREE = 0.1;

export async function openWith(source: ByteSource, reader: ContentReader): Promise<OpenedPdf> {
  const document = await openDocument(inBlocks(source));
  let left = MAX_COMPARED;
  const cost = lazy(() => costOf(document));
  const fields = await readSignatureFields(document);
  const digests = new Map<string, Promise<Uint8Array | undefined>>();
  const timestamps = new Map<StoredSignature, Promise<Timestamp>>();

  async function digest({ ranges }: StoredSignature, algorithm: ContentDigest): Promise<Uint8Array | undefined> {
    if (ranges === undefined) return undefined;
    const key = `${algorithm} ${ranges[0].end} ${ranges[1].end}`;
    const measuring =
      digests.get(key) ??
      reader.measure(source, ranges, [algorithm]).then((measured) => measured.digests.get(algorithm));
    digests.set(key, measuring);
    return measuring;
  }

  async function readTimestamp(stored: StoredSignature): Promise<Timestamp> {
    const imprint = orUndefined(() => imprintAlgorithmOf(signedDataOf(stored)));
    const algorithm = imprint === undefined ? undefined : digestAlgorithmOf(imprint);
    const found = algorithm === undefined ? undefined : await digest(stored, algorithm);
    return readTimestampToken(stored.cms ?? new Uint8Array(), { digest: found ?? new Uint8Array() }, reader.budget);
  }

  return {
    document,
    ...fields,
    takeComparison() {
      left -= cost();
      return left >= 0;
    },
    reader,
    digest,
    timestamp(stored) {
      const reading = timestamps.get(stored) ?? readTimestamp(stored);
      timestamps.set(stored, reading);
      return reading;
    },
    revisions: new Map(),
    settled: { unchanged: undefined },
    unlisted: lazy(() =>
      unlistedBytes(
        document,
        fields.stored.map(endOf).reduce((first, end) => Math.min(first, end), source.size),
      ),
    ),
  };
}

function costOf({ sections }: PdfDocument): number {
  let cost = 0;
  for (const { ranges, extent } of sections) {
    const { used } = extent();
    cost += ranges.reduce((sum, { count }) => sum + COST_OF_FREE * count, (1 - COST_OF_FREE) * used);
  }
  return cost;
}

function imprintAlgorithmOf(token: SignedData | CodesignError): string | undefined {
  if (token instanceof CodesignError || token.content === undefined) return undefined;
  return readTstInfo(octetsOf(token.content, 'TSTInfo')).imprint.algorithm;
}

const BLOCK = 16 * 1024;
const BLOCKS_KEPT = 64;

/** Keeps blocks of the file in memory, because objects are small and are read several times. */
function inBlocks(source: ByteSource): ByteSource {
  const blockAt = memoize(BLOCKS_KEPT, String, (index: number) =>
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
