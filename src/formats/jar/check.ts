import type { ByteSource } from '../../bytes/byte-source.ts';
import { isBroken, isObjection } from '../../errors/finding.ts';
import { damagedResult } from '../../format/errors.ts';
import type { Expected } from '../../format/signable-file.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { allMatch, readContentInfo } from './content-info.ts';
import { type JarLayout, MANIFEST_NAME, META_INF } from './layout.ts';
import { findDisagreement } from './manifest/agreement.ts';
import { readBlocks } from './signature/blocks.ts';
import { type Coverage, coverageOf } from './signature/signature-file-info.ts';

export interface JarExpectation extends Expected {
  /**
   * If true, the change moves no files, so the manifest need not come first. Other signatures may be invalid if they
   * were invalid before.
   */
  readonly keepsPositions?: boolean;
}

/**
 * Throws `result-damaged` unless the archive contains exactly the expected blocks, every digest matches, and the
 * signatures together cover every file.
 */
export async function checkResult(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
  { added, envelopes, keepsPositions = false }: JarExpectation,
): Promise<void> {
  const { manifest } = layout;
  if (manifest === undefined) throw damagedResult('it contains no manifest');
  if (!keepsPositions) checkManifestFirst(layout);
  const blocks = await readBlocks(source, layout);
  const found = blocks.map(({ cms }) => cms);
  const expected = envelopes.map(({ bytes }) => bytes);
  if (!sameEnvelopes(found, expected)) {
    throw damagedResult('it does not contain exactly the expected signatures');
  }
  const coverages: Coverage[] = [];
  for (const block of blocks) {
    const signatureFile = block.readSignatureFile();
    const isNew = added.some(({ bytes }) => Buffer.compare(block.cms, bytes) === 0);
    // An unsupported signature may stay, because `verify` does not report it as broken.
    const isValid = !block.examineSigners().some(isNew ? isObjection : isBroken);
    const isSound =
      signatureFile !== undefined && isValid && findDisagreement(signatureFile, manifest.parsed) === undefined;
    const coverage = isSound ? coverageOf(signatureFile, layout) : undefined;
    if (coverage !== undefined) coverages.push(coverage);
    const isGood = isNew ? coverage?.removed.count === 0 : keepsPositions || isSound;
    if (!isGood) throw damagedResult(`the signature of "${block.signer.name}" does not match the archive`);
  }
  if (!layout.signable.every((entry) => coverages.some(({ covers }) => covers(entry)))) {
    throw damagedResult('its signatures do not cover all its files');
  }
  if (!allMatch(await readContentInfo(source, layout, digestEntries), layout)) {
    throw damagedResult('its contents differ from the signed ones');
  }
}

function checkManifestFirst({ archive }: JarLayout): void {
  const [first, second] = archive.inFile;
  const manifest = first?.name === META_INF ? second : first;
  if (manifest?.name !== MANIFEST_NAME) throw damagedResult('its manifest does not come first');
}

function sameEnvelopes(found: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean {
  const sorted = (all: readonly Uint8Array[]) => all.toSorted(Buffer.compare);
  const others = sorted(expected);
  return (
    found.length === expected.length &&
    sorted(found).every((each, index) => Buffer.compare(each, others[index] ?? new Uint8Array()) === 0)
  );
}
