/** Bundles whose packages are signed with them. */

import { describe, expect, it } from 'vitest';
import { appx } from '../../../../src/formats/appx/index.ts';
import { decideSigning } from '../../../../src/signing/signing-policy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { flipped } from '../../../support/flipped.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { unzip } from '../jar/simple-zip.ts';
import { signingIn } from '../support/change.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentTypes, INNER, makeBundle, makePackage, OVERRIDE, ZIP64 } from './samples.ts';

const signer = await makeThrowawaySigner();
const innerPackages = { innerPackages: true };
const context = signingContext({ chain: signer.chain }, innerPackages);
const sign = async (bytes: Buffer) => (await signBytes(appx, bytes, signer, innerPackages)).result;
const check = async (bytes: Buffer, by = context) => signingIn(await openBytes(appx, bytes)).check(by, 'replace');
const checkPlainly = (bytes: Buffer) => check(bytes, signingContext({ chain: signer.chain }));
const examined = async (bytes: Buffer) => (await (await openBytes(appx, bytes)).examine()).map(({ code }) => code);

const PLAIN = makePackage();
const LANGUAGE = { name: 'lang_de.msix', bytes: makePackage({ method: 'sha512', around: ZIP64 }) };
const EMPTY = { name: 'empty.appx', bytes: makePackage({ files: [] }) };

/** The signed package of this name in a signed bundle. */
async function expectSigned(result: Buffer, name: string, unsigned: Buffer): Promise<number> {
  const start = result.indexOf(name) + name.length;
  const inner = (await signBytes(appx, unsigned, signer)).result;
  expect([name, result.subarray(start, start + inner.length).equals(inner)]).toEqual([name, true]);
  return start;
}

type Edits = readonly (readonly [from: string, to: string])[];

describe('a bundle with unsigned packages', () => {
  it('is signed with them, and every one of them by itself', async () => {
    const result = await sign(makeBundle(PLAIN, { more: [LANGUAGE, EMPTY], around: ZIP64 }));
    expect(await examined(result)).toEqual([]);
    expect(await codesOf((await (await openBytes(appx, result)).signatures())[0])).toEqual([]);
    for (const { name, bytes } of [{ name: 'app.msix', bytes: PLAIN }, LANGUAGE, EMPTY])
      await expectSigned(result, name, bytes);
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

  const STUB: Edits = [
    ["<Package FileName='AppxMetadata/Stub/", "<b5:Package IsStub='true' FileName='AppxMetadata\\Stub\\"],
    ['></Package>', '></b5:Package>'],
    ['<Bundle ', '<Bundle xmlns:b5="http://schemas.microsoft.com/appx/2019/bundle" '],
  ];

  it.each<[string, string, Edits]>([
    ['a stub package', 'AppxMetadata/Stub/app.msix', STUB],
    ['a name beyond ASCII', '%e0%A4%ae%2B.msix', [['%e0%A4%ae%2B', '\u092e+']]],
    ['a name with a percent sign', '50%25.msix', [['50%25', '50%']]],
    ['a name in other case', 'Other.msix', [['Other', 'OTHER']]],
  ])('is signed with %s, and is broken once that changes', async (_what, name, edits) => {
    const manifest = (text: string) => edits.reduce((edited, [from, to]) => edited.replace(from, to), text);
    const bundle = makeBundle(PLAIN, { more: [{ name, bytes: PLAIN }], manifest });
    const refusal = { code: 'appx-packages-unsigned', message: expect.stringContaining(name) };
    await expect(checkPlainly(bundle)).rejects.toMatchObject(refusal);
    const result = await sign(bundle);
    expect(await examined(result)).toEqual([]);
    const start = await expectSigned(result, name, PLAIN);
    expect(await examined(flipped(result, start + 50))).toEqual([expect.stringMatching(/^bundle-package-/)]);
  });

  it('takes a signature for each of them and one for itself', async () => {
    const decide = async (bytes: Buffer, isAlgorithmGiven = false) => {
      const policy = { existing: undefined, isAlgorithmGiven, allOrNothing: true, report: true };
      return decideSigning(await openBytes(appx, bytes), appx, context, policy, { digestEntries });
    };
    const bundle = makeBundle(PLAIN, { more: [LANGUAGE, { name: 'signed.msix', bytes: INNER }] });
    expect(await decide(bundle)).toMatchObject({ warnings: [expect.any(String)], signatures: 3 });
    await expect(decide(bundle, true)).rejects.toMatchObject({ code: 'algorithm-differs' });
    expect(await decide(makeBundle(INNER))).toMatchObject({ signatures: 1 });
    expect(await decide(makeBundle(INNER, { offset: undefined }))).toMatchObject({ signatures: 1 });
    expect(await decide(PLAIN)).toMatchObject({ signatures: 1 });
  });
});

describe('before any request, a bundle is rejected by the name of its package', () => {
  const mapped = (from: string, to: string) => makePackage({ blockMap: (text) => text.replace(from, to) });
  const second = (bytes: Buffer) => makeBundle(PLAIN, { more: [{ name: 'bad.msix', bytes }] });

  it.each([
    ['of another publisher', second(makePackage({ publisher: 'CN=Another' })), /bad\.msix .*, CN=Another, differs/],
    ['that is no archive', second(Buffer.from('no archive')), /bad\.msix /],
    ['that is encrypted', second(Buffer.concat([Buffer.from('EXPH'), Buffer.alloc(60)])), /bad\.msix .*encrypted/],
    ['whose block map has another digest', second(mapped('Hash="', 'Hash="A')), /bad\.msix .*block map/],
    ['that is compressed', makeBundle(PLAIN, { isCompressed: true }), /app\.msix/],
    ['that is missing', makeBundle(PLAIN, { fileName: 'b.msix' }), /b\.msix/],
    ['that is elsewhere', makeBundle(PLAIN, { offset: 39 }), /app\.msix is not stored at byte 39/],
  ])('%s', async (_what, bundle, message) => {
    await expect(check(bundle)).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });

  it.each([
    ['a package is compressed', makeBundle(INNER, { isCompressed: true })],
    ['a package is not there', makeBundle(INNER, { fileName: 'other.msix' })],
    ['two packages have one name', makeBundle(INNER, { more: [{ name: 'APP.msix', bytes: INNER }] })],
  ])('also without the option, if %s', async (_what, bundle) => {
    await expect(checkPlainly(bundle)).rejects.toMatchObject({ code: 'appx-malformed' });
  });

  it('if packages would move, or its own block map does not fit', async () => {
    const offset = makeBundle(PLAIN, { typesFirst: true }).indexOf('app.msix') + 'app.msix'.length;
    const moving = makeBundle(PLAIN, { typesFirst: true, offset });
    await expect(check(moving)).rejects.toMatchObject({ code: 'appx-packages-move' });
    const changed = makeBundle(PLAIN, { blockMap: (text) => text.replace('Hash="', 'Hash="A') });
    await expect(check(changed)).rejects.toMatchObject({ code: 'appx-malformed' });
  });
});

it('a package in a bundle that is broken is reported although the bundle is not', async () => {
  const more = [{ name: 'AppxSignature.p7x', contents: 'PKCX' }];
  const named = makePackage({ contentTypes: contentTypes(OVERRIDE), more });
  const result = (await signBytes(appx, makeBundle(named), signer, { unchecked: true })).result;
  expect(await codesOf((await (await openBytes(appx, result)).signatures())[0])).toEqual([]);
  expect(await examined(result)).toEqual(['bundle-package-damaged']);
});
