/** Before the rename, only the signed bytes of the copy are checked. These tests compare the others, in every format. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { openInput } from '../../../src/files/input-file.ts';
import type { Format } from '../../../src/format/format.ts';
import { formats } from '../../../src/formats/registry.ts';
import { folderForAll } from '../../support/set-up.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { testCopy } from '../signing/files/test-copy.ts';
import { applyPatch } from './support/apply-patch.ts';
import { rulesOf, sealedBy, signingIn } from './support/change.ts';
import { fixturesOf } from './support/format-fixtures.ts';

/** On a disk that is not local, each copy is written and changed in parts, as that of a large file is. */
vi.mock('../../../src/bytes/file-source.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof import('../../../src/bytes/file-source.ts')>()),
  isLocal: () => false,
}));

const folder = folderForAll();
let signer: ThrowawaySigner;
beforeAll(async () => {
  signer = await makeThrowawaySigner();
});

/** Rehearses and signs as `sign` does. `expected` is the original with the edits, made in memory. */
async function signOnDisk(format: Format, bytes: Buffer, mode = rulesOf(format).modes[0]) {
  const target = join(folder, `test${format.extensions[0]}`);
  await writeFile(target, bytes);
  await using input = await openInput(target);
  const { source, stats } = input;
  await using copy = await testCopy({ source, stats, target });
  const file = await format.open(source, copy.reader, target);
  const algorithm = signingIn(file).fixedAlgorithm?.algorithm ?? 'SHA256';
  const context = signingContext({ algorithm, chain: signer.chain }, { wsh: true });
  const prepared = await signingIn(file).prepare(context, mode);
  const zeros = { signDigest: () => new Uint8Array(signer.chain.signatureLength) };
  await copy.apply(prepared.embed(sealedBy(zeros, prepared, Buffer.alloc(100))).patch);
  const embedding = prepared.embed(sealedBy(signer, prepared));
  await copy.apply(embedding.patch);
  await copy.replaceTarget({ isNew: false, assertUnchanged: () => undefined });
  return { written: await readFile(target), expected: applyPatch(bytes, embedding.patch) };
}

const files = formats.flatMap((format) => fixturesOf(format).good.map((fixture) => ({ format, ...fixture })));
test.each(files)(
  'a copy of $name is the original with the edits, also where no digest covers it: $what',
  async (one) => {
    const { format, bytes, appendCode } = one;
    const first = await signOnDisk(format, bytes);
    expect(first.written.equals(first.expected)).toBe(true);
    if (appendCode !== undefined || !rulesOf(format).modes.includes('append')) return;
    const second = await signOnDisk(format, first.written, 'append');
    expect(second.written.equals(second.expected)).toBe(true);
  },
);
