/** The walk of one file through a format and its temporary copy, as signing does it: rehearsed, sealed, reopened, put in place. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteRange } from '../../../../src/bytes/pieces.ts';
import { isBytes } from '../../../../src/bytes/pieces.ts';
import { openInput } from '../../../../src/files/input-file.ts';
import type { Format } from '../../../../src/format/format.ts';
import type { ContentReader, SigningMode } from '../../../../src/format/signable-file.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import type { ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from './apply-patch.ts';
import { rulesOf, sealedBy, signingIn } from './change.ts';

export interface SignedOnDisk {
  readonly written: Buffer;
  /** The original with the patch, made in memory. */
  readonly expected: Buffer;
  /** Ranges of the result that the check before the rename does not digest. */
  readonly undigested: readonly ByteRange[];
}

export async function signOnDisk(
  format: Format,
  bytes: Buffer,
  signer: ThrowawaySigner,
  { folder, mode = rulesOf(format).modes[0] }: { readonly folder: string; readonly mode?: SigningMode },
): Promise<SignedOnDisk> {
  const target = join(folder, `test${format.extensions[0]}`);
  await writeFile(target, bytes);
  await using input = await openInput(target);
  const { source, stats } = input;
  await using copy = await stageCopy({
    ...{ source, stats, target, digestEntries, randomName: () => 'disk' },
    ...{ temporaryFiles: new Set(), onEvent: () => undefined },
  });
  const file = await format.open(source, copy.reader, target);
  const algorithm = signingIn(file).fixedAlgorithm?.algorithm ?? 'SHA256';
  const context = signingContext({ algorithm, chain: signer.chain }, { wsh: true });
  const prepared = await signingIn(file).prepare(context, mode);
  await copy.apply(
    prepared.embed(sealedBy({ signDigest: () => new Uint8Array(signer.chain.signatureLength) }, prepared)).patch,
  );
  const embedding = prepared.embed(sealedBy(signer, prepared));
  await copy.apply(embedding.patch);
  const reopened = await copy.reopen();
  const { reader, undigested } = recordDigested(reopened.reader, reopened.source.size);
  await signingIn(await format.open(reopened.source, reader, target)).verify(embedding);
  await copy.replaceTarget({ isNew: false, assertUnchanged: () => undefined });
  return { written: await readFile(target), expected: applyPatch(bytes, embedding.patch), undigested: undigested() };
}

/** A reader that remembers which bytes of the file it digests. */
function recordDigested(reader: ContentReader, size: number) {
  const isDigested = new Uint8Array(size);
  return {
    reader: {
      ...reader,
      measure(source, content, measures) {
        for (const piece of content) if (!isBytes(piece)) isDigested.fill(1, piece.start, piece.end);
        return reader.measure(source, content, measures);
      },
      digestEntries(source, entries, algorithms) {
        for (const { dataOffset, compressedSize } of entries) {
          isDigested.fill(1, dataOffset, dataOffset + compressedSize);
        }
        return reader.digestEntries(source, entries, algorithms);
      },
    } satisfies ContentReader,
    undigested(): ByteRange[] {
      const ranges: ByteRange[] = [];
      for (let start = isDigested.indexOf(0); start >= 0; ) {
        const next = isDigested.indexOf(1, start);
        const end = next < 0 ? size : next;
        ranges.push({ start, end });
        start = isDigested.indexOf(0, end);
      }
      return ranges;
    },
  };
}
