/**
 * What programs that are not ours say of the packages of others that we sign (made ones: `test/system/interop/special`): the checker, osslsigncode and Microsoft's MSIX SDK. Needs
 * CODESIGN_TEST_PAIRS, CODESIGN_TEST_CORPUS and CODESIGN_TEST_VERIFIERS.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { flipped } from '../../../support/flipped.ts';
import { osslsigncodeVerify, run, unpackPackage } from '../../../system/interop/verifiers.ts';
import { filesBelow, signedCopies } from '../support/signed-copies.ts';

const {
  CODESIGN_TEST_PAIRS: pairs = '',
  CODESIGN_TEST_CORPUS: corpus = '',
  CODESIGN_TEST_VERIFIERS: verifiers = '',
} = process.env;
const packagesIn = (...folders: readonly string[]) =>
  folders.flatMap((folder) => filesBelow(folder, (name) => /\.(msix|appx)(bundle)?$/.test(name)));
const inPairs = (state: string) => path.join(pairs, `generated-${state}`, 'msix');

/** Packages of others by their publisher, which the SDK compares with the subject of the certificate. */
const PACKAGES = {
  'Corpus Publisher': () => packagesIn(path.join(corpus, 'appx')),
  'Test Code Signing Certificate': () => packagesIn(inPairs('unsigned'), inPairs('signed')),
};

/** The packages that the SDK rejects for another reason than the signature. They are rejected before anything is signed. */
const UNFIT: ReadonlyMap<string, string> = new Map([
  [path.join(corpus, 'appx', 'made__packed-sha512.appx'), 'appx-publisher-differs'],
  [path.join(corpus, 'appx', 'made__packed-store.appx'), 'appx-publisher-differs'],
  [path.join(inPairs('unsigned'), 'sample.appxbundle'), 'appx-packages-unsigned'],
  [path.join(inPairs('unsigned'), 'sample.msixbundle'), 'appx-packages-unsigned'],
]);

describe.skipIf(pairs === '' || corpus === '' || verifiers === '').each(Object.entries(PACKAGES))(
  'packages of %s that are signed',
  (publisher, packages) => {
    it('are accepted by the checker, osslsigncode and the MSIX SDK, and not once they are tampered with', async () => {
      using copies = await signedCopies({ publisher });
      for (const { name, bytes } of packages()) {
        const code = UNFIT.get(name);
        const checked = await copies.sign(name, bytes);
        expect([name, checked.code]).toEqual([name, code]);
        const signed = code === undefined ? checked : await copies.sign(name, bytes, { unchecked: true });
        expect([name, await whoRejects(signed.path, copies.root)]).toEqual([name, code === undefined ? [] : ['sdk']]);
        writeFileSync(signed.path, flipped(readFileSync(signed.path), 100));
        expect(await whoRejects(signed.path, copies.root)).toEqual(['checker', 'osslsigncode', 'sdk']);
      }
    });
  },
);

it.skipIf(pairs === '' || verifiers === '')(
  'a bundle that is signed with its package is accepted, and so is the package by itself',
  async () => {
    using copies = await signedCopies({ publisher: 'Test Code Signing Certificate' });
    const unsigned = readFileSync(path.join(inPairs('unsigned'), 'sample.msixbundle'));
    const bundle = await copies.sign('sample.msixbundle', unsigned, { innerPackages: true });
    const bytes = readFileSync(bundle.path);
    const name = 'sample.msix';
    const start = bytes.indexOf(name) + name.length;
    const inner = path.join(copies.folder, name);
    // The size in the first local header, which is of the package.
    writeFileSync(inner, bytes.subarray(start, start + bytes.readUInt32LE(22)));
    for (const file of [bundle.path, inner]) {
      expect([path.basename(file), await whoRejects(file, copies.root)]).toEqual([path.basename(file), []]);
    }
    writeFileSync(bundle.path, flipped(bytes, start + 100));
    expect(await whoRejects(bundle.path, copies.root)).toEqual(['checker', 'osslsigncode', 'sdk']);
  },
);

async function whoRejects(file: string, root: string): Promise<readonly string[]> {
  const verdicts = {
    checker: await run('python3', [path.join(verifiers, 'formats', 'appxcheck.py'), file]),
    osslsigncode: await osslsigncodeVerify(root, file),
    sdk: await unpackPackage(verifiers, file),
  };
  return Object.entries(verdicts).flatMap(([name, { accepted }]) => (accepted ? [] : [name]));
}
