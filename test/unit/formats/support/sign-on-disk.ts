/** The walk of one file through a format and its temporary copy, as signing does it: rehearsed, sealed, reopened, put in place. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openInput } from '../../../../src/files/input-file.ts';
import type { Format } from '../../../../src/format/format.ts';
import type { SigningMode } from '../../../../src/format/signable-file.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import type { ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from './apply-patch.ts';
import { rulesOf, sealedBy, signingIn } from './change.ts';

/** `expected`: the original with the patch, made in memory. */
export async function signOnDisk(
  format: Format,
  bytes: Buffer,
  signer: ThrowawaySigner,
  { folder, mode = rulesOf(format).modes[0] }: { readonly folder: string; readonly mode?: SigningMode },
): Promise<Readonly<Record<'written' | 'expected', Buffer>>> {
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
  await signingIn(await format.open(reopened.source, reopened.reader, target)).verify(embedding);
  await copy.replaceTarget({ isNew: false, assertUnchanged: () => undefined });
  return { written: await readFile(target), expected: applyPatch(bytes, embedding.patch) };
}
