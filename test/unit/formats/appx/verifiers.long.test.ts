/**
 * What programs that are not ours say of the packages of others that we sign (made ones: `test/system/interop/special`): the checker, osslsigncode and Microsoft's MSIX SDK. Needs
 * CODESIGN_TEST_PAIRS, CODESIGN_TEST_CORPUS and CODESIGN_TEST_VERIFIERS.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { osslsigncodeVerify, run, unpackPackage } from '../../../system/interop/verifiers.ts';
import { filesBelow, signedCopies } from '../support/signed-copies.ts';

const {
  CODESIGN_TEST_PAIRS: pairs = '',
  CODESIGN_TEST_CORPUS: corpus = '',
  CODESIGN_TEST_VERIFIERS: verifiers = '',
} = process.env;
const isPackage = (name: string) => /\.(msix|appx)(bundle)?$/.test(name);
const named = ({ name, bytes }: { name: string; bytes: Buffer }) => ({ name: path.basename(name), bytes });

/** Packages of others by their publisher, which the SDK compares with the subject of the certificate. */
const PACKAGES = {
  'Corpus Publisher': () => filesBelow(path.join(corpus, 'appx'), isPackage).map(named),
  'Test Code Signing Certificate': () =>
    (['unsigned', 'signed'] as const).flatMap((state) =>
      filesBelow(path.join(pairs, `generated-${state}`, 'msix'), isPackage).map(({ name, bytes }) => ({
        name: `${state}-${path.basename(name)}`,
        bytes,
      })),
    ),
};

/** The packages that the SDK rejects for another reason than the signature. They are rejected before anything is signed. */
const UNFIT: Readonly<Record<string, string>> = {
  'made__packed-sha512.appx': 'appx-publisher-differs',
  'made__packed-store.appx': 'appx-publisher-differs',
  'unsigned-sample.appxbundle': 'appx-packages-unsigned',
  'unsigned-sample.msixbundle': 'appx-packages-unsigned',
};

describe.skipIf(pairs === '' || corpus === '' || verifiers === '').each(Object.entries(PACKAGES))(
  'packages of %s that are signed',
  (publisher, packages) => {
    it('are accepted by the checker, osslsigncode and the MSIX SDK, and not once they are tampered with', async () => {
      const copies = await signedCopies({ publisher });
      try {
        for (const { name, bytes } of packages()) {
          const checked = await copies.sign(name, bytes);
          expect([name, checked.code]).toEqual([name, UNFIT[name]]);
          const signed = checked.code === undefined ? checked : await copies.sign(name, bytes, { unchecked: true });
          const expected = UNFIT[name] === undefined ? [] : ['sdk'];
          expect([name, await whoRejects(signed.path, copies.root)]).toEqual([name, expected]);
          const contents = readFileSync(signed.path);
          contents[100] = (contents[100] ?? 0) ^ 1;
          writeFileSync(signed.path, contents);
          expect(await whoRejects(signed.path, copies.root)).toEqual(['checker', 'osslsigncode', 'sdk']);
        }
      } finally {
        copies.remove();
      }
    });
  },
);

it.skipIf(pairs === '' || verifiers === '')(
  'a bundle that is signed with its package is accepted, and so is the package by itself',
  async () => {
    const copies = await signedCopies({ publisher: 'Test Code Signing Certificate' });
    try {
      const unsigned = readFileSync(path.join(pairs, 'generated-unsigned', 'msix', 'sample.msixbundle'));
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
      bytes[start + 100] = (bytes[start + 100] ?? 0) ^ 1;
      writeFileSync(bundle.path, bytes);
      expect(await whoRejects(bundle.path, copies.root)).toEqual(['checker', 'osslsigncode', 'sdk']);
    } finally {
      copies.remove();
    }
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
