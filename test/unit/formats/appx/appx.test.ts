import { describe, expect, it } from 'vitest';
import { encode, objectIdentifier, sequence, setOf } from '../../../../src/asn1/write.ts';
import { appx } from '../../../../src/formats/appx/index.ts';
import { nameText } from '../../../../src/formats/appx/publisher.ts';
import { modeAndContext } from '../../../../src/signing/signing-policy.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { removalOf, signingIn, stampIn } from '../support/change.ts';
import { codesOf, isIntact } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentTypes, INNER, makeBundle, makePackage, OVERRIDE, ZIP64 } from './samples.ts';

const signer = await makeThrowawaySigner();
const check = async (bytes: Buffer) =>
  signingIn(await openBytes(appx, bytes)).check(signingContext({ chain: signer.chain }), 'replace');
const findings = async (bytes: Buffer) => (await (await openBytes(appx, bytes)).examine()).map(({ code }) => code);
const signed = async (bytes: Buffer) => (await signBytes(appx, bytes, signer, { unchecked: true })).result;

const part = (...attributes: readonly (readonly [string, string])[]) =>
  setOf(...attributes.map(([type, value]) => sequence(objectIdentifier(type), encode(0x0c, Buffer.from(value)))));

it.each([
  ['CN=Name, S=State, C=XX', [part(['2.5.4.6', 'XX']), part(['2.5.4.8', 'State']), part(['2.5.4.3', 'Name'])]],
  ['OID.2.5.4.15=Private Organization', [part(['2.5.4.15', 'Private Organization'])]],
  ['O="A ""B"""', [part(['2.5.4.10', 'A "B"'])]],
  ['O=" A"', [part(['2.5.4.10', ' A'])]],
  ['OU=a + CN="b+c"', [part(['2.5.4.11', 'a'], ['2.5.4.3', 'b+c'])]],
])('the subject of a certificate is %s', (text, parts) => {
  expect(nameText(sequence(...parts))).toBe(text);
});

describe('before any request, a package', () => {
  it.each([
    ['CN=Another', /"CN=Another", but the subject of the certificate is "CN=Test Publisher"$/],
    ['cn=Test  Publisher', /"CN=Test Publisher", which is spelled differently$/],
  ])('of the publisher %s is rejected', async (publisher, reason) => {
    const refusal = { code: 'appx-publisher-differs', message: expect.stringMatching(reason) };
    await expect(check(makePackage({ publisher }))).rejects.toMatchObject(refusal);
  });

  it('is signed by the algorithm of its block map, unless another one was given', async () => {
    const file = await openBytes(appx, makePackage({ method: 'sha384' }));
    const context = signingContext({ chain: signer.chain });
    const choose = (isAlgorithmGiven: boolean) =>
      modeAndContext(signingIn(file), appx, context, {
        ...{ existing: undefined, isAlgorithmGiven, allOrNothing: false, report: true },
      });
    expect(choose(false).context.algorithm).toBe('SHA384');
    const message = 'a signature for this file must use SHA384, not SHA256: the block map uses it';
    expect(() => choose(true)).toThrow(expect.objectContaining({ code: 'algorithm-differs', message }));
  });
});

const SPELLED = OVERRIDE.replace('AppxSignature.p7x"', "appxsignature.P7X'  ")
  .replace('"/a', "'/A")
  .replace('/>', '></Override >');

const CATALOG_PART = '<Override PartName="/a.cat" ContentType="application/vnd.ms-pkiseccat"/>';

describe('a package', () => {
  it.each<[string, string | RegExp, string]>([
    ['another size', 'Size="198"', 'Size="199"'],
    ['another size of a block', /(Hash="[^"]*") Size="\d+"/, '$1 Size="9"'],
    ['a block too many', /<Block [^>]*>/, '$&$&'],
    ['a file that is not there', 'hello.txt', 'other.txt'],
    ['another digest', 'Hash="', 'Hash="A'],
  ])('whose block map has %s is reported, and rejected before any request', async (_what, from, to) => {
    const bytes = makePackage({ blockMap: (text) => text.replace(from, to) });
    expect(await findings(bytes)).toEqual(['block-map-differs']);
    await expect(check(bytes)).rejects.toMatchObject({ code: 'appx-malformed' });
  });

  it.each(['folder/', 'a b.txt', '\u00fc.txt', 'a[1].txt', '100%.txt'])(
    'with an entry %j is reported',
    async (name) => {
      const files = [{ name, isStored: true }];
      const blockMap = (text: string) => text.replace(/ LfhSize="\d+"/, ` LfhSize="${30 + Buffer.byteLength(name)}"`);
      for (const shape of name === '100%.txt' ? [{ more: files }] : [{ more: files }, { files, blockMap }]) {
        const [found] = await (await openBytes(appx, makePackage(shape))).examine();
        expect(found?.message).toContain(`${name} is not a valid file name in a package`);
      }
    },
  );

  it('with a file of two blocks is reported once these are exchanged', async () => {
    const contents = Buffer.concat([Buffer.alloc(65_536), Buffer.from('x')]);
    const files = [{ name: 'large.bin', contents, isStored: true }];
    const exchangeBlocks = (text: string) => text.replace(/(<Block Hash="[^"]*"\/>)(<Block Hash="[^"]*"\/>)/, '$2$1');
    expect(await findings(makePackage({ files }))).toEqual([]);
    expect(await findings(makePackage({ files, blockMap: exchangeBlocks }))).toEqual(['block-map-differs']);
  });

  it('with bytes after the entry of its signature is reported, and signed without them', async () => {
    const result = await signed(makePackage());
    const directory = result.readUInt32LE(result.length - 6);
    const changed = Buffer.concat([result.subarray(0, directory), Buffer.from('hidden'), result.subarray(directory)]);
    changed.writeUInt32LE(directory + 'hidden'.length, changed.length - 6);
    expect(await findings(changed)).toEqual(['hidden-bytes']);
    expect(await signed(changed)).toEqual(result);
  });

  it('whose signature does not begin with PKCX, or is not named by content types, is reported', async () => {
    const withSignature = (types: string, contents: string) =>
      findings(makePackage({ contentTypes: types, more: [{ name: 'AppxSignature.p7x', contents }] }));
    expect(await withSignature(contentTypes(OVERRIDE), '0')).toContain('signature-entry-odd');
    expect(await withSignature(contentTypes(), 'PKCX')).toEqual(['content-type-missing']);
  });

  it('is rejected by verify if its signature has another algorithm or is of another publisher', async () => {
    const codes = async (bytes: Buffer) => codesOf((await (await openBytes(appx, bytes)).signatures())[0]);
    const { result } = await signBytes(appx, makePackage(), signer, { algorithm: 'SHA512' });
    expect(await codes(result)).toEqual(['block-map-algorithm-differs']);
    expect(await codes(await signed(makePackage({ publisher: 'CN=Another' })))).toEqual(['publisher-differs']);
  });

  it('gets a signature as the last entry, without flags and extra fields, and end records without disks', async () => {
    const result = await signed(makePackage({ around: ZIP64 }));
    const end = result.length - 22;
    const locator = end - 20;
    const directory = Number(result.readBigUInt64LE(Number(result.readBigUInt64LE(locator + 8)) + 48));
    const local = result.lastIndexOf('PK\x03\x04', directory, 'latin1');
    expect(result.subarray(local + 4, local + 10).toString('hex')).toBe('140000000800');
    expect(result.readUInt16LE(local + 28)).toBe(0);
    expect(result.readUInt32LE(end + 4)).toBe(0);
    const timed = applyPatch(result, (await stampIn(await openBytes(appx, result), new Map())).patch);
    expect(timed).toEqual(result);
  });

  it('is no longer intact with other disks or versions in its end records', async () => {
    const result = await signed(makePackage({ around: ZIP64 }));
    // From the end of the file: two disks in the end record, two in the locator, two versions and a disk in ZIP64.
    for (const fromEnd of [18, 16, 38, 26, 86, 84, 82]) {
      const changed = Buffer.from(result);
      changed.fill(0xff, changed.length - fromEnd, changed.length - fromEnd + 2);
      const intact = openBytes(appx, changed).then(async (file) => isIntact((await file.signatures())[0]));
      expect(await intact.catch(({ code }) => code)).toBeOneOf([false, 'zip-unsupported']);
    }
  });

  it.each([
    ['a prefix', contentTypes('', 'ct:')],
    ['a comment', contentTypes('<!-- a </Types> comment -->')],
    ['the signature', contentTypes(OVERRIDE + CATALOG_PART), contentTypes(CATALOG_PART)],
    ['the signature in another spelling', contentTypes(SPELLED), contentTypes()],
  ])('has its own content types again once the signature is removed: with %s', async (_what, types, left = types) => {
    const result = await signed(makePackage({ contentTypes: types }));
    expect(await findings(result)).toEqual([]);
    expect(applyPatch(result, await removalOf(await openBytes(appx, result))).includes(left)).toBe(true);
  });
});

describe('a bundle', () => {
  it('of unsigned packages, or with wrong offsets, is reported', async () => {
    expect(await findings(await signed(makeBundle(INNER)))).toEqual([]);
    expect(await findings(await signed(makeBundle(makePackage())))).toEqual(['packages-unsigned']);
    expect(await findings(makeBundle(INNER, { offset: 39 }))).toEqual(['bundle-offset-differs']);
    expect(await findings(makeBundle(INNER, { fileName: 'b.msix' }))).toContain('bundle-package-missing');
  });

  it('of a package that cannot be read is rejected, and reported', async () => {
    const damaged = makeBundle(Buffer.from('no archive'));
    await expect(check(damaged)).rejects.toMatchObject({ code: 'zip-malformed' });
    expect(await findings(await signed(damaged))).toEqual(['bundle-package-unreadable']);
  });
});
