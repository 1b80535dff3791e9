/** Packages before and after Microsoft's signtool (CODESIGN_TEST_PAIRS): our digests, our edits and our verdict against theirs. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { cmsEnvelope, type FoundSignature } from '../../../../src/format/signature.ts';
import { appx } from '../../../../src/formats/appx/index.ts';
import { flipped } from '../../../support/flipped.ts';
import { isInSample } from '../../../support/sample.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, removalOf } from '../support/change.ts';
import { codesOf, isAccepted } from '../support/is-intact.ts';
import { openBytes } from '../support/sign-bytes.ts';

const pairs = process.env.CODESIGN_TEST_PAIRS ?? '';

describe.skipIf(pairs === '').each(['sample.msix', 'sample.msixbundle'])('%s that signtool signed', (name) => {
  const signed = pairs === '' ? Buffer.alloc(0) : readFileSync(path.join(pairs, 'generated-signed', 'msix', name));
  const signatureOf = async (bytes: Buffer): Promise<FoundSignature | undefined> =>
    (await (await openBytes(appx, bytes, name)).signatures())[0];

  it('has the digests of its signature, and no finding against it', async () => {
    expect(await codesOf(await signatureOf(signed))).toEqual([]);
    expect(await (await openBytes(appx, signed, name)).examine()).toEqual([]);
  });

  it('does not change when the signature is attached again, and neither does the inflated signature', async () => {
    const signature = await signatureOf(signed);
    const envelope = cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0));
    const { patch } = await placeIn(await openBytes(appx, signed, name), envelope);
    const result = applyPatch(signed, patch);
    const start = lastEntry(signed);
    expect(result.subarray(0, start)).toEqual(signed.subarray(0, start));
    expect(contentsAt(result, start)).toEqual(contentsAt(signed, start));
    expect(await codesOf(await signatureOf(result))).toEqual([]);
  });

  it('no longer names a signature once that is removed', async () => {
    const result = applyPatch(signed, await removalOf(await openBytes(appx, signed, name)));
    const types = contentsAt(result, result.lastIndexOf('[Content_Types].xml', lastEntry(result) + 30) - 30).toString();
    expect(types).toContain('AppxBlockMap.xml');
    expect(types).not.toContain('AppxSignature.p7x');
  });

  it('is rejected once a byte changes that is not part of the signature itself', async () => {
    const start = lastEntry(signed);
    const ownRecord = signed.lastIndexOf('PK\x01\x02');
    const directory = signed.indexOf('PK\x01\x02', start);
    const accepted: number[] = [];
    for (let at = 0; at < signed.length; at++) {
      if (!isInSample(at)) continue;
      if (await isAccepted(appx, flipped(signed, at), name)) accepted.push(at);
    }
    expect(accepted.filter((at) => at < start || (at >= directory && at < ownRecord))).toEqual([]);
    // Versions, times and attributes, unused bits at the end of the data, and the number of disks in the ZIP64 locator.
    expect(accepted.length).toBeLessThan(30);
  });
});

/** Where the local header of the last entry is. */
function lastEntry(bytes: Buffer): number {
  return bytes.lastIndexOf('PK\x03\x04');
}

function contentsAt(bytes: Buffer, header: number): Buffer {
  return inflateRawSync(
    bytes.subarray(header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28)),
  );
}
