/** Signs, examines, stamps, unsigns every JAR of the corpus (CODESIGN_TEST_CORPUS); Java checks what is left of them. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../../../src/errors/codesign-error.ts';
import { speaksAgainst } from '../../../../../src/errors/finding.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { readLayout } from '../../../../../src/formats/jar/layout.ts';
import { mainJava } from '../../../../support/programs/java.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { lossesOf } from '../../../../system/interop/compare-archives.ts';
import { readAsArchives } from '../../../../system/interop/java/readers.ts';
import { applyPatch } from '../../support/apply-patch.ts';
import { isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const files = ['jar', 'jar-special'].flatMap((folder) =>
  corpus === '' ? [] : readdirSync(path.join(corpus, folder)).map((file) => path.join(folder, file)),
);

let signer: ThrowawaySigner;
let folder: string;

beforeAll(async () => {
  signer = await makeThrowawaySigner();
  folder = mkdtempSync(path.join(tmpdir(), 'codesign-corpus-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Undefined for what is rejected. */
async function signedOrRefused(bytes: Buffer): Promise<Buffer | undefined> {
  try {
    return (await signBytes(jar, bytes, signer)).result;
  } catch (thrown) {
    if (thrown instanceof CodesignError) return undefined;
    throw thrown;
  }
}

async function hasDigests(bytes: Buffer): Promise<boolean> {
  const { manifest } = await readLayout(memorySource(bytes));
  return /-Digest: /i.test(manifest?.parsed.bytes.toString() ?? '');
}

describe.skipIf(corpus === '')('of the corpus', () => {
  it.each(files)('%s is signed, stamped and unsigned, and has lost nothing', { timeout: 120_000 }, async (file) => {
    const original = readFileSync(path.join(corpus, file));
    const result = await signedOrRefused(original);
    if (result === undefined) return;
    const signed = await openBytes(jar, result);
    const [signature] = await signed.signatures();
    if (signature === undefined) throw new Error('there is no signature');
    expect(await isIntact(signature)).toBe(true);
    expect(speaksAgainst(await signed.examine(), 'integrity')).toBe(false);
    expect((await signed.attach(signature.envelope)).patch).toEqual([]);

    const stamping = await signed.stamp(new Map([[signature, Buffer.from('3000', 'hex')]]));
    const stamped = applyPatch(result, stamping.patch);
    await (await openBytes(jar, stamped)).verifyResult(stamping);
    const back = await (await openBytes(jar, stamped)).attach(signature.envelope);
    expect(applyPatch(stamped, back.patch)).toEqual(result);

    const wasSigned = await hasDigests(original);
    const removed = applyPatch(stamped, await (await openBytes(jar, stamped)).remove());
    // Digests that were there before go too, and sections that held nothing else.
    const lost = lossesOf(original, removed).filter(({ what }) => what !== 'manifest' || !wasSigned);
    expect(lost).toEqual([]);
    const paths = ['original', 'removed'].map((name) => path.join(folder, `${name}.jar`));
    for (const [index, bytes] of [original, removed].entries()) writeFileSync(paths[index] ?? '', bytes);
    const [before, after] = await readAsArchives(mainJava(), paths);
    expect(after?.failures).toEqual([]);
    expect(after?.signers.size).toBe(0);
    expect(after?.entries).toBe(before?.entries);
    for (const [name, value] of before?.attributes ?? []) expect(after?.attributes.get(name)).toBe(value);
  });
});
