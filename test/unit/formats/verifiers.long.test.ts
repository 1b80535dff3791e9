/**
 * What programs that are not ours say of what `test/system/interop/special` does not show them: page hashes, created
 * catalogs, signtool's signatures put into installer files, and bundles that are signed with their packages. Needs
 * CODESIGN_TEST_PAIRS, CODESIGN_TEST_CORPUS and CODESIGN_TEST_VERIFIERS.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { expectedError } from '../../../src/errors/codesign-error.ts';
import type { Format } from '../../../src/format/format.ts';
import { cmsEnvelope } from '../../../src/format/signature.ts';
import { appx } from '../../../src/formats/appx/index.ts';
import { newCatalog } from '../../../src/formats/cat/create.ts';
import { cat } from '../../../src/formats/cat/index.ts';
import { listedFile } from '../../../src/formats/catalogs.ts';
import { msi } from '../../../src/formats/msi/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { isInSample } from '../../support/sample.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { checkAll, osslsigncodeVerify, run, unpackPackage } from '../../system/interop/verifiers.ts';
import { applyPatch } from './support/apply-patch.ts';
import { placeIn } from './support/change.ts';
import { filesBelow } from './support/fixtures.ts';
import { openBytes, plainReader, type SignBytesOptions, signBytes } from './support/sign-bytes.ts';

const { CODESIGN_TEST_PAIRS: pairs = '', CODESIGN_TEST_CORPUS: corpus = '' } = process.env;
const { CODESIGN_TEST_VERIFIERS: verifiers = '' } = process.env;
const isWhole = pairs !== '' && corpus !== '' && verifiers !== '';
const checker = (name: string) => path.join(verifiers, 'formats', name);

const folder = folderForAll();
const at = (name: string) => path.join(folder, name);
const signer = await makeThrowawaySigner({ publisher: 'Test Code Signing Certificate' });
const root = at('root.pem');
writeFileSync(root, signer.root);

/** The path of a signed copy. */
async function signedCopy(format: Format, bytes: Buffer, name: string, options?: SignBytesOptions): Promise<string> {
  writeFileSync(at(name), (await signBytes(format, bytes, signer, options)).result);
  return at(name);
}

describe.skipIf(!isWhole)('files that are signed', () => {
  it('programs with page hashes are accepted by the checker, and by osslsigncode if their pages are as it takes them', async () => {
    const programs = ['pe', 'pe-special'].flatMap((kind) =>
      filesBelow(path.join(corpus, kind), () => true).filter(({ bytes }) => bytes.toString('latin1', 0, 2) === 'MZ'),
    );
    const [signed, impossible]: [string[], string[]] = [[], []];
    for (const [index, { name, bytes }] of programs.entries()) {
      const copy = await signedCopy(pe, bytes, `${index}.exe`, { pageHashes: true }).catch(expectedError);
      if (typeof copy === 'string') signed.push(copy);
      else if (copy.code === 'page-hashes-impossible') impossible.push(path.basename(name));
    }
    expect(impossible.sort()).toEqual(['soh-past-eof.exe', 'soh-zero.exe']);
    expect(signed.length).toBeGreaterThan(110);
    const sample = signed.filter((_, index) => isInSample(index));
    const checked = await checkAll(sample, async (file) => {
      const bytes = readFileSync(file);
      const header = bytes.readUInt32LE(60);
      const [sections, alignment] = [bytes.readUInt16LE(header + 6), bytes.readUInt32LE(header + 56)];
      return [
        // It also tries SectionAlignment as the size of a page, and fails if the headers do not fit into that.
        ...(alignment < bytes.readUInt32LE(header + 84) ? [] : [await run('python3', [checker('phcheck.py'), file])]),
        // It takes SectionAlignment for the size of a page, and rejects programs without sections.
        ...(alignment === 4096 && sections > 0 ? [await osslsigncodeVerify(root, file)] : []),
      ].map(({ accepted, output }) => ({ file, accepted, output }));
    });
    expect(checked.flat().filter(({ accepted }) => !accepted)).toEqual([]);
  });

  it('created catalogs list programs and cabinets for osslsigncode, and other files for a checker of their digests', async () => {
    const inPairs = (kind: string) => filesBelow(path.join(pairs, 'generated-unsigned', kind), () => true);
    const binaries = [
      ...[...inPairs('pe'), ...inPairs('cab')],
      ...filesBelow(path.join(corpus, 'pe-special'), (name) => /overlay|odd|dotnet/.test(name)).slice(0, 10),
    ];
    const others = inPairs('scripts');
    expect([binaries.length > 10, others.length > 40]).toEqual([true, true]);
    const listed = await Promise.all(
      [...binaries, ...others].map(({ name, bytes }) => listedFile(memorySource(bytes), plainReader(), name)),
    );
    const catalog = await signedCopy(cat, Buffer.from(newCatalog(listed, new Date())), 'created.cat');
    const byCatalog = (file: string) =>
      run('osslsigncode', ['verify', '-catalog', catalog, '-CAfile', root, '-in', file]);
    const checked = await checkAll(binaries, ({ name }) => byCatalog(name));
    expect(checked.filter(({ accepted }) => !accepted)).toEqual([]);
    const changed = at('changed.exe');
    writeFileSync(changed, Buffer.concat([binaries[0]?.bytes ?? Buffer.alloc(0), Buffer.alloc(8, 1)]));
    expect((await byCatalog(changed)).accepted).toBe(false);
    const program = fileURLToPath(new URL('../../system/interop/check-catalog.py', import.meta.url));
    const flat = await run('python3', [program, catalog, ...others.map(({ name }) => name)]);
    expect(flat).toEqual({ accepted: true, output: '' });
    expect((await run('python3', [program, catalog, changed])).accepted).toBe(false);
  });

  it('installer files have the streams that signtool gives them once its signature is attached', async () => {
    for (const name of ['tiny.msi', 'tiny-patch.msp']) {
      const [unsigned, signed] = ['unsigned', 'signed'].map((state) =>
        readFileSync(path.join(pairs, `generated-${state}`, 'installer', name)),
      );
      const [signature] = await (await openBytes(msi, signed ?? Buffer.alloc(0), name)).signatures();
      const file = await openBytes(msi, unsigned ?? Buffer.alloc(0), name);
      const { patch } = await placeIn(file, cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0)));
      writeFileSync(at(name), applyPatch(unsigned ?? Buffer.alloc(0), patch));
      const { output, accepted } = await run('python3', [checker('msicheck.py'), at(name)]);
      expect({ output, accepted }).toMatchObject({ accepted: true, output: expect.stringContaining('prehash OK') });
    }
  });

  it('a bundle that is signed with its package is accepted, and so is the package by itself', async () => {
    const unsigned = readFileSync(path.join(pairs, 'generated-unsigned', 'msix', 'sample.msixbundle'));
    const bundle = await signedCopy(appx, unsigned, 'sample.msixbundle', { innerPackages: true });
    const bytes = readFileSync(bundle);
    const name = 'sample.msix';
    const start = bytes.indexOf(name) + name.length;
    // The size in the first local header, which is of the package.
    writeFileSync(at(name), bytes.subarray(start, start + bytes.readUInt32LE(22)));
    for (const file of [bundle, at(name)]) {
      const verdicts = [
        await run('python3', [checker('appxcheck.py'), file]),
        await osslsigncodeVerify(root, file),
        await unpackPackage(verifiers, file),
      ];
      expect(verdicts.filter(({ accepted }) => !accepted)).toEqual([]);
    }
  });
});
