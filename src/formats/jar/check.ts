import type { ByteSource } from '../../bytes/byte-source.ts';
import type { CodesignError } from '../../errors/codesign-error.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { formatErrors } from '../errors.ts';
import type { ExpectedEnvelope } from '../format.ts';
import { allMatch, readContentInfo } from './content-info.ts';
import { type JarLayout, MANIFEST_NAME, META_INF } from './layout.ts';
import { agrees } from './manifest/agreement.ts';
import { readBlocks } from './signature/blocks.ts';
import { type Coverage, coverageOf } from './signature/signature-file-info.ts';

export interface JarExpectation extends ExpectedEnvelope {
  /**
   * Whether all that was there has its place, be that where a stream reader looks for signatures or not; signatures next to
   * the new one are as good, or bad, as they were then.
   */
  readonly keepsPositions?: boolean;
}

/**
 * Holds the archive to: the expected blocks and no other, byte for byte; each signature file is about this manifest, the
 * new one's about nothing that is gone, all together about every file; the contents have the digests that the manifest
 * says; the manifest is where a stream reader looks for it. Throws `result-damaged`.
 */
export async function checkResult(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
  { sealed, standing, keepsPositions = false }: JarExpectation,
): Promise<void> {
  const { manifest } = layout;
  if (manifest === undefined) throw damaged('it holds no manifest');
  if (!keepsPositions) requireManifestFirst(layout);
  const blocks = await readBlocks(source, layout);
  const found = blocks.map(({ cms }) => cms);
  const expected = standing.map(({ bytes }) => bytes);
  if (!sameEnvelopes(found, expected)) {
    throw damaged('the signatures in it are not those that it should hold');
  }
  const coverages: Coverage[] = [];
  for (const block of blocks) {
    const signatureFile = block.readSignatureFile();
    const isNew = Buffer.compare(block.cms, sealed.bytes) === 0;
    const isSound = signatureFile !== undefined && block.verifies() && agrees(signatureFile, manifest.parsed);
    const coverage = isSound ? coverageOf(signatureFile, layout) : undefined;
    if (coverage !== undefined) coverages.push(coverage);
    const isGood = isNew ? coverage?.removed.count === 0 : keepsPositions || isSound;
    if (!isGood) throw damaged(`the signature of "${block.signerName}" is not about what the archive holds`);
  }
  if (!layout.signable.every((entry) => coverages.some(({ covers }) => covers(entry)))) {
    throw damaged('the signatures in it are not about all that it holds');
  }
  if (!allMatch(await readContentInfo(source, layout, digestEntries), layout)) {
    throw damaged('its contents are not those that were signed');
  }
}

function requireManifestFirst({ archive }: JarLayout): void {
  const [first, second] = archive.inFile;
  const manifest = first?.name === META_INF ? second : first;
  if (manifest?.name !== MANIFEST_NAME) throw damaged('its manifest does not come first');
}

function sameEnvelopes(found: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean {
  const sorted = (all: readonly Uint8Array[]) => all.toSorted(Buffer.compare);
  const others = sorted(expected);
  return (
    found.length === expected.length &&
    sorted(found).every((each, index) => Buffer.compare(each, others[index] ?? new Uint8Array()) === 0)
  );
}

function damaged(reason: string): CodesignError {
  return formatErrors('result-damaged', { reason });
}
