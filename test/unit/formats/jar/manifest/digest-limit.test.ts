/** Holds how many digests of contents are checked: the strongest of each file, and the others up to a limit. */

import { describe, expect, it } from 'vitest';
import { FURTHER_BYTES, withinDigestLimit } from '../../../../../src/formats/jar/content.ts';
import type { ZipEntry } from '../../../../../src/zip/directory.ts';

const entry = (size: number, compressedSize = 0) => ({ size, compressedSize }) as ZipEntry;
const TWO = ['sha1', 'sha256'];
const THREE = ['md5', 'sha3-512', 'sha512'];

function checked(entries: readonly ZipEntry[], algorithms: readonly (readonly string[])[]) {
  const limited = withinDigestLimit(entries, algorithms);
  return entries.map((_, position) => [limited.checked[position], limited.isReduced(position)]);
}

describe('the digests of contents that are checked', () => {
  it('are all of them up to the limit, and beyond it the strongest of each file', () => {
    const half = entry(FURTHER_BYTES / 2);
    expect(checked([half, half], [TWO, TWO])).toEqual([
      [TWO, false],
      [TWO, false],
    ]);
    expect(checked([half, entry(FURTHER_BYTES / 2 + 1), entry(1)], [TWO, TWO, THREE])).toEqual([
      [TWO, false],
      [['sha256'], true],
      [THREE, false],
    ]);
    expect(checked([entry(FURTHER_BYTES)], [THREE])).toEqual([[['sha512'], true]]);
  });

  it('are the one digest of a file, however large it is, and none where there is none', () => {
    const huge = entry(100 * FURTHER_BYTES);
    expect(checked([huge, huge], [['md5'], []])).toEqual([
      [['md5'], false],
      [[], false],
    ]);
  });

  it('may be more where the compressed contents are large', () => {
    const large = entry(10 * FURTHER_BYTES, FURTHER_BYTES);
    expect(checked([large], [TWO])).toEqual([[TWO, false]]);
    expect(checked([large], [THREE])).toEqual([[['sha512'], true]]);
  });
});
