/** Digests and sums over the content of a file, all in one pass. */

import { createHash, type Hash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import { NODE_DIGEST_NAME } from './algorithms.ts';
import type { Content, ContentDigest, Measure, Measurement } from './content.ts';
import { addSum16 } from './sum16.ts';

export interface Measuring {
  /** Takes the bytes at `offset` of the file; chunks come in order and without gaps inside the content's ranges. */
  update(chunk: Uint8Array, offset: number): void;
  /** The measurement of what came so far, which more may follow. */
  finish(): Measurement;
  /**
   * Goes on from here with content that begins as this one does and only ends later, with all measures or some of them;
   * undefined when `content` is another, or one of the measures was not taken.
   */
  continueWith(content: Content, measures: readonly Measure[]): Measuring | undefined;
}

const NODE_NAME: Readonly<Record<ContentDigest, string>> = { ...NODE_DIGEST_NAME, MD5: 'md5' };

/** Starts measuring content whose bytes the caller reads. */
export function startMeasuring(content: Content, measures: readonly Measure[]): Measuring {
  const hashes = new Map<ContentDigest, Hash>();
  for (const measure of measures) {
    if (measure !== 'SUM16') hashes.set(measure, createHash(NODE_NAME[measure]));
  }
  return measuringFrom({ hashes, sum16: 0 }, content, measures);
}

interface State {
  readonly hashes: ReadonlyMap<ContentDigest, Hash>;
  readonly sum16: number;
}

function measuringFrom({ hashes, sum16: before }: State, content: Content, measures: readonly Measure[]): Measuring {
  const sums = measures.includes('SUM16');
  let sum16 = before;

  return {
    update(chunk, offset) {
      const chunkEnd = offset + chunk.length;
      for (const range of content.ranges) {
        const start = Math.max(range.start, offset);
        const end = Math.min(range.end, chunkEnd);
        if (start >= end) continue;
        const part = chunk.subarray(start - offset, end - offset);
        for (const hash of hashes.values()) hash.update(part);
        if (sums) sum16 = addSum16(sum16, part, start);
      }
    },
    finish() {
      const padding = Buffer.alloc(content.zeroPadding);
      const digests = new Map<ContentDigest, Uint8Array>();
      for (const [algorithm, hash] of hashes) digests.set(algorithm, hash.copy().update(padding).digest());
      return { digests, sum16: sums ? sum16 : undefined };
    },
    continueWith(next, nextMeasures) {
      if (!nextMeasures.every((measure) => measures.includes(measure)) || !continues(content, next)) return undefined;
      const asked = [...hashes].filter(([algorithm]) => nextMeasures.includes(algorithm));
      const copies = new Map(asked.map(([algorithm, hash]) => [algorithm, hash.copy()]));
      return measuringFrom({ hashes: copies, sum16 }, next, nextMeasures);
    },
  };
}

/** Whether `next` has the same ranges, but for the last one's end, which may be further on. */
function continues({ ranges }: Content, { ranges: next }: Content): boolean {
  const last = ranges.length - 1;
  return (
    next.length === ranges.length &&
    ranges.every(({ start, end }, index) => {
      const other = next[index];
      return other?.start === start && (index === last ? other.end >= end : other.end === end);
    })
  );
}

/** The plain MeasureContent: reads from the first range's start to the last one's end and keeps nothing. */
export async function measureContent(
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
): Promise<Measurement> {
  const measuring = startMeasuring(content, measures);
  let offset = content.ranges[0]?.start ?? 0;
  const end = content.ranges.at(-1)?.end ?? offset;
  for await (const chunk of source.stream(offset, end)) {
    measuring.update(chunk, offset);
    offset += chunk.length;
  }
  return measuring.finish();
}
