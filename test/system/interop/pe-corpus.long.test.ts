/**
 * Signs every PE of the corpus (CODESIGN_TEST_CORPUS), and has programs that are not ours check each result; osslsigncode does
 * so in special/containers.long.test.ts, which also holds the folders against the table.
 */

import { X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import type { SigningMode } from '../../../src/format/signable-file.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { isInSample } from '../../support/sample.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { headerOffsets, slowContent } from '../../unit/formats/pe/slow-pe.ts';
import { isIntact } from '../../unit/formats/support/is-intact.ts';
import { openBytes, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { readSpecialFiles } from './special/special-files.ts';
import { checkAll, osslsigncodeVerify, run, sbverify, wineVerify } from './verifiers.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const verifiers = process.env.CODESIGN_TEST_VERIFIERS ?? '';
const EFI_SUBSYSTEMS = [10, 11, 12, 13];

const programs = corpus === '' ? [] : listPrograms('pe');
const specialPrograms = readSpecialFiles('pe-special')
  .filter(({ result }) => result === 'signed')
  .map(({ file }) => path.join('pe-special', file));

const signer = await makeThrowawaySigner();
const folder = folderForAll();
for (const name of ['pe', 'pe-special', 'appended']) mkdirSync(path.join(folder, name));
const [root, intermediate] = ['root.pem', 'intermediate.pem'].map((name) => path.join(folder, name)) as [
  string,
  string,
];
writeFileSync(root, signer.root);
writeFileSync(intermediate, signer.intermediate);

/** The files of a folder of the corpus that are PEs, or say so; the corpus has one ELF among them. */
function listPrograms(name: string): string[] {
  return readdirSync(path.join(corpus, name))
    .map((file) => path.join(name, file))
    .filter((file) => readFileSync(path.join(corpus, file)).subarray(0, 2).toString('latin1') === 'MZ');
}

const signedPath = (file: string) => path.join(folder, file);
const sampleOfSigned = (times = 1) =>
  [...programs, ...specialPrograms].filter((_, index) => isInSample(index, times)).map(signedPath);

/** Writes the result under `folder`. */
async function sign(file: string, mode: SigningMode = 'replace', name = file): Promise<Buffer> {
  const bytes = readFileSync(path.join(corpus, file));
  const { result } = await signBytes(pe, bytes, signer, { mode, unchecked: true });
  writeFileSync(signedPath(name), result);
  return result;
}

describe.skipIf(corpus === '')('the corpus', () => {
  it.each([...programs, ...specialPrograms])('%s is signed, with its bytes intact', async (file) => {
    const result = await sign(file);
    const original = readFileSync(path.join(corpus, file));
    const { entry } = headerOffsets(original);
    const wasSigned = original.readUInt32LE(entry) > 0 && original.readUInt32LE(entry) < original.length;
    const end = wasSigned && original.readUInt32LE(entry + 4) > 0 ? original.readUInt32LE(entry) : original.length;
    expect(slowContent(result, end).equals(slowContent(original, end))).toBe(true);
  });

  it('is accepted by sbverify once signed, what of it is for EFI', async () => {
    const efi = programs.filter((file) => EFI_SUBSYSTEMS.includes(subsystemOf(readFileSync(signedPath(file)))));
    expect(efi.length).toBeGreaterThan(10);
    const verdicts = await checkAll(efi, (file) => sbverify(intermediate, signedPath(file)));
    const refused = verdicts.flatMap((verdict, index) => (verdict.accepted ? [] : [[efi[index], verdict.output]]));
    expect(refused).toEqual([]);
  });

  it.skipIf(verifiers === '')('is accepted by the strict checker once signed', async () => {
    // It starts openssl ten times for each file.
    const signed = sampleOfSigned(2);
    const checker = [path.join(verifiers, 'sigcheck.py'), '--strict', '--root', root];
    const { output } = await run('python3', [...checker, ...signed]);
    expect(output.match(/^(?!PASS\t).+$/gm)).toBeNull();
    expect(output.match(/^PASS\t/gm)).toHaveLength(signed.length);
  });

  it.skipIf(verifiers === '')("is trusted by Wine's WinVerifyTrust once signed", async () => {
    const der = path.join(folder, 'root.der');
    writeFileSync(der, new X509Certificate(signer.root).raw);
    const verdicts = await wineVerify(sampleOfSigned(), { roots: [der], verifiers });
    expect(verdicts.filter(({ accepted }) => !accepted)).toEqual([]);
  });

  it('takes a signature next to the one it has, or says why not; osslsigncode accepts the first one still', async () => {
    const appended: string[] = [];
    for (const file of [...programs, ...specialPrograms]) {
      const bytes = readFileSync(path.join(corpus, file));
      const [first] = await (await openBytes(pe, bytes)).signatures();
      if (first === undefined || !(await isIntact(first))) continue;
      const name = path.join('appended', path.basename(file));
      try {
        await sign(file, 'append', name);
        appended.push(name);
      } catch (thrown) {
        // Two certificates in one table: the one case in which a sound signature cannot have another next to it.
        expect(thrown).toBeInstanceOf(CodesignError);
        expect([file, thrown]).toMatchObject([expect.stringContaining('two-wincerts'), { code: 'cannot-append' }]);
      }
    }
    expect(appended.length).toBeGreaterThan(20);
    for (const name of appended) {
      const [outer] = await (await openBytes(pe, readFileSync(signedPath(name)))).signatures();
      expect(outer?.signer.certificate).not.toEqual(signer.chain.leaf.der);
      expect(outer?.contained.some((inner) => inner.signature.signer.name === 'Test Publisher')).toBe(true);
      const { output } = await osslsigncodeVerify(root, signedPath(name));
      expect(output).not.toMatch(/MISMATCH/);
      expect(output).toMatch(/Signer #0:\s+Subject: \/CN=Test Publisher/);
    }
  });
});

function subsystemOf(bytes: Buffer): number {
  return bytes.readUInt16LE(bytes.readUInt32LE(60) + 24 + 68);
}
