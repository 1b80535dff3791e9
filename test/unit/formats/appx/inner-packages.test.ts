/** Bundles whose packages are signed with them. */

import { describe, expect, it } from 'vitest';
import { appx } from '../../../../src/formats/appx/index.ts';
import { decideSigning } from '../../../../src/signing/signing-policy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { unzip } from '../jar/simple-zip.ts';
import { signingIn } from '../support/change.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentTypes, INNER, makeBundle, makePackage, OVERRIDE, withZip64 } from './samples.ts';

const signer = await makeThrowawaySigner();
const innerPackages = { innerPackages: true };
const context = signingContext({ chain: signer.chain }, innerPackages);
const plainContext = signingContext({ chain: signer.chain });
const sign = async (bytes: Buffer) => (await signBytes(appx, bytes, signer, innerPackages)).result;
const check = async (bytes: Buffer) => signingIn(await openBytes(appx, bytes)).check(context, 'replace');
const examined = async (bytes: Buffer) => (await (await openBytes(appx, bytes)).examine()).map(({ code }) => code);

const PLAIN = makePackage();
const LANGUAGE = { name: 'lang_de.msix', bytes: withZip64(makePackage({ method: 'sha512' })) };
const EMPTY = { name: 'empty.appx', bytes: makePackage({ files: [] }) };

/** With other bytes in its first file. */
function withOtherByte(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed[50] = (changed[50] ?? 0) ^ 1;
  return changed;
}

describe('a bundle with unsigned packages', () => {
  it('is signed with them, and every one of them by itself', async () => {
    const result = await sign(withZip64(makeBundle(PLAIN, { more: [LANGUAGE, EMPTY] })));
    expect(await examined(result)).toEqual([]);
    expect(await codesOf((await (await openBytes(appx, result)).signatures())[0])).toEqual([]);
    for (const { name, bytes } of [{ name: 'app.msix', bytes: PLAIN }, LANGUAGE, EMPTY]) {
      const start = result.indexOf(name) + name.length;
      const inner = (await signBytes(appx, bytes, signer)).result;
      expect([name, result.subarray(start, start + inner.length).equals(inner)]).toEqual([name, true]);
    }
  });

  it('keeps those that are signed, and everything but the numbers of its manifest', async () => {
    const bundle = makeBundle(PLAIN, { more: [{ name: 'signed.msix', bytes: INNER }] });
    const result = await sign(bundle);
    const contents = (bytes: Buffer, name: string) => unzip(bytes).find((entry) => entry.name === name)?.contents;
    expect(contents(result, 'signed.msix')).toEqual(INNER);
    const manifest = (bytes: Buffer) => String(contents(bytes, 'AppxMetadata/AppxBundleManifest.xml'));
    expect(manifest(result)).not.toEqual(manifest(bundle));
    expect(manifest(result).replace(/\d+/g, '')).toEqual(manifest(bundle).replace(/\d+/g, ''));
    expect((await check(bundle)).warnings).toEqual([
      'packages that are already signed stay unchanged: signed.msix [packages-kept]',
    ]);
  });

  it('gets the same bytes again once it is signed, also without the option', async () => {
    const result = await sign(makeBundle(PLAIN, { more: [EMPTY] }));
    expect(await sign(result)).toEqual(result);
    expect((await signBytes(appx, result, signer)).result).toEqual(result);
  });

  it('has a manifest of several blocks', async () => {
    const long = (text: string) => text.replace('<Packages>', `<!-- ${'filler '.repeat(20_000)} --><Packages>`);
    expect(await examined(await sign(makeBundle(PLAIN, { manifest: long, isStored: true })))).toEqual([]);
  });

  it.each([
    [
      'a stub package',
      'AppxMetadata/Stub/app.msix',
      (text: string) =>
        text
          .replace("<Package FileName='AppxMetadata/Stub/", "<b5:Package IsStub='true' FileName='AppxMetadata\\Stub\\")
          .replace('></Package>', '></b5:Package>')
          .replace('<Bundle ', '<Bundle xmlns:b5="http://schemas.microsoft.com/appx/2019/bundle" '),
    ],
    ['a name beyond ASCII', '%e0%A4%ae%2B.msix', (text: string) => text.replace('%e0%A4%ae%2B', '\u092e+')],
    ['a name with a percent sign', '50%25.msix', (text: string) => text.replace('50%25', '50%')],
    ['a name in other case', 'Other.msix', (text: string) => text.replace('Other', 'OTHER')],
  ])('is signed with %s, and is broken once that changes', async (_what, name, manifest) => {
    const bundle = makeBundle(PLAIN, { more: [{ name, bytes: PLAIN }], manifest });
    await expect(signingIn(await openBytes(appx, bundle)).check(plainContext, 'replace')).rejects.toMatchObject({
      code: 'appx-packages-unsigned',
      message: expect.stringContaining(name),
    });
    const result = await sign(bundle);
    expect(await examined(result)).toEqual([]);
    const start = result.indexOf(name) + name.length;
    const inner = (await signBytes(appx, PLAIN, signer)).result;
    expect(result.subarray(start, start + inner.length).equals(inner)).toBe(true);
    result[start + 50] = (result[start + 50] ?? 0) ^ 1;
    expect(await examined(result)).toEqual([expect.stringMatching(/^bundle-package-/)]);
  });

  it('takes a signature for each of them and one for itself', async () => {
    const decide = async (bytes: Buffer, isAlgorithmGiven = false) =>
      decideSigning(
        await openBytes(appx, bytes),
        appx,
        context,
        {
          existing: undefined,
          isAlgorithmGiven,
          allOrNothing: true,
          report: true,
        },
        { digestEntries },
      );
    const bundle = makeBundle(PLAIN, { more: [LANGUAGE, { name: 'signed.msix', bytes: INNER }] });
    expect(await decide(bundle)).toMatchObject({ warnings: [expect.any(String)], signatures: 3 });
    await expect(decide(bundle, true)).rejects.toMatchObject({ code: 'algorithm-differs' });
    expect(await decide(makeBundle(INNER))).toMatchObject({ signatures: 1 });
    expect(await decide(makeBundle(INNER, { offset: undefined }))).toMatchObject({ signatures: 1 });
    expect(await decide(PLAIN)).toMatchObject({ signatures: 1 });
  });
});

describe('before any request, a bundle is rejected by the name of its package', () => {
  const damaged = Buffer.from(INNER);
  damaged[60] = (damaged[60] ?? 0) ^ 1;
  const second = (bytes: Buffer) => makeBundle(PLAIN, { more: [{ name: 'bad.msix', bytes }] });

  it.each([
    [
      'of another publisher',
      second(makePackage({ publisher: 'CN=Another' })),
      /bad\.msix .*publisher, CN=Another, differs/,
    ],
    ['that is no archive', second(Buffer.from('no archive')), /bad\.msix /],
    ['that is encrypted', second(Buffer.concat([Buffer.from('EXPH'), Buffer.alloc(60)])), /bad\.msix .*encrypted/],
    ['that is a bundle', second(makeBundle(INNER)), /bad\.msix .*it is a bundle/],
    ['without a block map', second(makePackage({ without: 'AppxBlockMap.xml' })), /bad\.msix .*no AppxBlockMap/],
    [
      'whose block map has another size',
      second(makePackage({ blockMap: (text) => text.replace('Size="198"', 'Size="199"') })),
      /bad\.msix .*block map/,
    ],
    [
      'whose block map has another digest',
      second(makePackage({ blockMap: (text) => text.replace('Hash="', 'Hash="A') })),
      /bad\.msix .*block map/,
    ],
    ['whose signature is broken', second(damaged), /bad\.msix /],
    ['that is compressed', makeBundle(PLAIN, { isCompressed: true }), /app\.msix/],
    ['that is missing', makeBundle(PLAIN, { fileName: 'b.msix' }), /b\.msix/],
    ['that is elsewhere', makeBundle(PLAIN, { offset: 39 }), /app\.msix is not stored at byte 39/],
  ])('%s', async (_what, bundle, message) => {
    await expect(check(bundle)).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });

  it.each([
    ['a package is compressed', makeBundle(INNER, { isCompressed: true })],
    ['a package is elsewhere', makeBundle(INNER, { offset: 39 })],
    ['a package is not there', makeBundle(INNER, { fileName: 'other.msix' })],
    ['a package is damaged', makeBundle(withOtherByte(INNER))],
    ['two packages have one name', makeBundle(INNER, { more: [{ name: 'APP.msix', bytes: INNER }] })],
  ])('also without the option, if %s', async (_what, bundle) => {
    const opened = openBytes(appx, bundle).then((file) => signingIn(file).check(plainContext, 'replace'));
    await expect(opened).rejects.toMatchObject({ code: 'appx-malformed' });
  });

  it('if packages would move, or its own block map does not fit', async () => {
    const offset = makeBundle(PLAIN, { typesFirst: true }).indexOf('app.msix') + 'app.msix'.length;
    const moving = check(makeBundle(PLAIN, { typesFirst: true, offset }));
    await expect(moving).rejects.toMatchObject({ code: 'appx-packages-move' });
    const changed = check(makeBundle(PLAIN, { blockMap: (text) => text.replace('Hash="', 'Hash="A') }));
    await expect(changed).rejects.toMatchObject({ code: 'appx-malformed' });
  });
});

describe('verify', () => {
  it('reports a package in a bundle that is broken although the bundle is not', async () => {
    const named = makePackage({
      contentTypes: contentTypes(OVERRIDE),
      more: [{ name: 'AppxSignature.p7x', contents: 'PKCX' }],
    });
    const result = (await signBytes(appx, makeBundle(named), signer, { unchecked: true })).result;
    expect(await codesOf((await (await openBytes(appx, result)).signatures())[0])).toEqual([]);
    expect(await examined(result)).toEqual(['bundle-package-damaged']);
  });
});
