/** Signatures that hold the time at which they were made: no two runs sign a file the same. */

import { readFile } from 'node:fs/promises';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import { formats } from '../../../src/formats/registry.ts';
import { verifyFile } from '../../../src/index.ts';
import { applyPatch } from '../../unit/formats/support/apply-patch.ts';
import { removalOf } from '../../unit/formats/support/change.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';

/** Whether `verify` trusts the file, and it is the original again, byte for byte, once its signature is removed. */
export async function isOriginalSigned(
  path: string,
  original: Buffer,
  how: { readonly roots: string; readonly requireTimestamp: boolean },
): Promise<boolean> {
  const { verdict } = await verifyFile(path, how);
  if (verdict !== 'trusted') return false;
  const bytes = await readFile(path);
  const format = await recogniseFormat(memorySource(bytes), [path], { formats });
  return applyPatch(bytes, await removalOf(await openBytes(format, bytes, path))).equals(original);
}
