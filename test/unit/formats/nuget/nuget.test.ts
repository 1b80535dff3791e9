import { describe, expect, it } from 'vitest';
import { CODE_SIGNING, DATA, LIFETIME_SIGNING } from '../../../../src/asn1/object-identifiers.ts';
import { readElement } from '../../../../src/asn1/read.ts';
import { octetString } from '../../../../src/asn1/write.ts';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cmsEnvelope, containedAs, type FoundSignature } from '../../../../src/format/signature.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { readPackage } from '../../../../src/formats/nuget/package.ts';
import { readSignedText, signedText } from '../../../../src/formats/nuget/signed-content.ts';
import { editLastEntry } from '../../../../src/zip/edit-archive.ts';
import { type NewEntry, storedEntry } from '../../../../src/zip/write-records.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { chainOf, makeThrowawaySigner, type ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { zip } from '../jar/simple-zip.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, removalOf, signingIn, stampIn, warningsOf } from '../support/change.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { OWNERS, SERVICE_INDEX, signedAgain } from './repository-signatures.ts';
import { makePackage } from './samples.ts';

const plain = makePackage();
const signer = await makeThrowawaySigner();
const repository = await makeThrowawaySigner({ publisher: 'Test Repository' });

const signed = (await signBytes(nuget, plain, signer)).result;
const coSignersOf = (signature: FoundSignature | undefined) => (signature ? containedAs('co-signer', signature) : []);
const contextOf = (more = {}) => signingContext({ chain: signer.chain, ...more });

/** The package with a signature in which others take part, or with an entry of another kind. */
async function packageWith(
  role: 'author' | 'repository',
  counters: readonly ThrowawaySigner[] = [],
  change: { value?: boolean; entry?: Partial<NewEntry>; edit?: (cms: Uint8Array) => Uint8Array } = {},
): Promise<Buffer> {
  const { sealed } = await signBytes(nuget, plain, signer);
  const signed = signedAgain(sealed, role === 'author' ? signer : repository, role, counters, change.value);
  const cms = change.edit?.(signed) ?? signed;
  const { body } = await readPackage(memorySource(plain));
  return applyPatch(plain, editLastEntry(body, { ...storedEntry('.signature.p7s', cms), ...change.entry }));
}

const signatureOf = async (bytes: Buffer) => (await (await openBytes(nuget, bytes)).signatures())[0];
it('lists a signature as unreadable whose signer has a malformed name, and no countersignature of such a signer', async () => {
  const COMMON_NAME = Buffer.from('0603550403', 'hex');
  /** The value of the last common name but one (the last is an attribute's) becomes part of the object identifier before it. */
  const edit = (cms: Uint8Array) => {
    const bytes = Buffer.from(cms);
    const commonName = bytes.lastIndexOf(COMMON_NAME, bytes.lastIndexOf(COMMON_NAME) - 1);
    bytes[commonName + 1] = 5 + (bytes[commonName + 6] ?? 0);
    return bytes;
  };
  const namesIn = async (counters: readonly ThrowawaySigner[]) => {
    const signature = await signatureOf(await packageWith('author', counters, { edit }));
    return [signature, ...coSignersOf(signature)].map((each) => each?.signer.name);
  };
  expect(await namesIn([])).toEqual(['(unreadable signature)']);
  expect(await namesIn([repository])).toEqual(['Test Publisher']);
});

describe('a package that a repository signed or countersigned', () => {
  it('names the repository, its service and the owners', async () => {
    const primary = await signatureOf(await packageWith('repository'));
    const lines = (await primary?.details())?.map(({ name, value }) => `${name}: ${value}`);
    const ofRepository = [`service index: ${SERVICE_INDEX}`, `package owners: ${OWNERS.join(', ')}`];
    expect(lines).toEqual(expect.arrayContaining(['signature of: repository', ...ofRepository]));
  });

  it('is intact, unless the countersignature is of another signature, or there are two, or more than are read', async () => {
    for (const counters of [[], [repository]]) {
      const signature = await signatureOf(await packageWith('author', counters));
      expect(await codesOf(signature)).toEqual([]);
      for (const each of coSignersOf(signature)) expect(await codesOf(each)).toEqual([]);
    }
    expect(await codesOf(await signatureOf(await packageWith('repository')))).toEqual([]);
    const other = await signatureOf(await packageWith('author', [repository], { value: true }));
    expect(await codesOf(other?.contained[0]?.signature)).toEqual(['message-digest-differs']);
    const codesWith = async (counters: readonly ThrowawaySigner[]) =>
      codesOf(await signatureOf(await packageWith('author', counters)));
    expect(await codesWith([repository, signer])).toEqual(['several-repositories']);
    expect(await codesWith(Array.from({ length: 9 }, () => repository))).toContain('several-countersignatures');
  });

  it('keeps the countersignature when it is timestamped, and when a signature is attached', async () => {
    const bytes = await packageWith('author', [repository]);
    const file = await openBytes(nuget, bytes);
    const [signature = expect.unreachable()] = await file.signatures();
    const { patch } = await stampIn(file, new Map([[signature, Buffer.from('3000', 'hex')]]));
    const stamped = await signatureOf(applyPatch(bytes, patch));
    expect(coSignersOf(stamped)).toHaveLength(1);
    expect(stamped?.timestamps).toHaveLength(1);

    const { sealed } = await signBytes(nuget, plain, signer);
    await expect(placeIn(file, cmsEnvelope(sealed))).rejects.toMatchObject({ code: 'signatures-kept' });
    const again = await placeIn(file, signature.envelope);
    expect(applyPatch(bytes, again.patch)).toEqual(bytes);
    expect(applyPatch(plain, (await placeIn(await openBytes(nuget, plain), signature.envelope)).patch)).toEqual(bytes);
  });
});

describe('the entry of the signature', () => {
  it('holds nothing but the signature', async () => {
    const edit = (cms: Uint8Array) => Buffer.concat([cms, Buffer.alloc(1)]);
    expect(await codesOf(await signatureOf(await packageWith('author', [], { edit })))).toEqual(['hidden-bytes']);
  });

  it.each<readonly [string, Partial<NewEntry>, string]>([
    ['has flags', { flags: 2 }, 'it has flags'],
    ['has extra fields', { extra: Buffer.from('feca0000', 'hex') }, 'it has extra fields or a comment'],
  ])('is reported and refused if it %s, and can be removed', async (_what, entry, problem) => {
    const bytes = await packageWith('author', [], { entry });
    const file = await openBytes(nuget, bytes);
    const message = expect.stringContaining(problem);
    expect(await file.examine()).toEqual([{ code: 'signature-entry-odd', weight: 'broken', message }]);
    const signing = signingIn(file).prepare(contextOf(), 'replace');
    await expect(signing).rejects.toMatchObject({ code: 'nuget-signature-entry' });
    expect(applyPatch(bytes, await removalOf(file))).toEqual(plain);
  });

  const record = signed.lastIndexOf('PK\x01\x02', -22, 'latin1');
  const local = signed.lastIndexOf('PK\x03\x04', signed.readUInt32LE(signed.length - 6), 'latin1');
  const changed = (offset: number, value: number) => {
    const bytes = Buffer.from(signed);
    bytes[offset] = value;
    return bytes;
  };
  const SIGNATURE = { name: '.signature.p7s', contents: 'x' };

  it.each([
    ['is compressed', makePackage(SIGNATURE)],
    ['is not the last entry', makePackage({ ...SIGNATURE, isStored: true }, { name: 'last.txt' })],
    ['needs version 45', changed(record + 6, 45)],
    ['needs version 20', changed(local + 4, 10)],
    ['has external attributes', changed(record + 38, 1)],
  ])('is reported if it %s', async (problem, bytes) => {
    const messages = (await (await openBytes(nuget, bytes)).examine()).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining(`it ${problem}`));
  });

  it('does not count as a signature, and causes a warning, if its name is in upper case or has the UTF-8 flag', async () => {
    const upper = await openBytes(nuget, makePackage({ name: '.SIGNATURE.P7S', contents: 'x', isStored: true }));
    expect(await warningsOf(upper)).toEqual([expect.stringContaining('.SIGNATURE.P7S is not a signature')]);
    expect(await upper.signatures()).toEqual([]);
    // This ZIP writer sets the flag.
    const flagged = await openBytes(nuget, zip([{ name: 'a.nuspec' }, { name: '.signature.p7s', isStored: true }]));
    expect(await flagged.signatures()).toEqual([]);
    expect((await flagged.examine()).map(({ code }) => code)).toEqual(['signature-name-unrecognised']);
    const signing = signingIn(flagged).prepare(contextOf(), 'replace');
    await expect(signing).rejects.toMatchObject({ code: 'nuget-signature-entry' });
  });
});

it('the text that is signed is read with line ends LF and CR LF, but not CR', () => {
  const algorithms = ['\n', '\r\n', '\r'].map((end) => {
    const text = Buffer.from(signedText('SHA384', Buffer.alloc(48, 1)).toString().replaceAll('\n', end));
    return readSignedText({ contentType: DATA, content: readElement(octetString(text), 'text') })?.algorithm;
  });
  expect(algorithms).toEqual(['SHA384', 'SHA384', undefined]);
});

it('what NuGet would reject is rejected before anything is signed: SHA-1, and a certificate for lifetime signing', async () => {
  const signing = signingIn(await openBytes(nuget, plain));
  for (const context of [contextOf({ algorithm: 'SHA1' }), contextOf({ timestampAlgorithm: 'SHA1' })])
    await expect(signing.check(context, 'replace')).rejects.toMatchObject({ code: 'nuget-algorithm' });
  const pki = makePki();
  const leaf = pki.leaf({ purposes: [CODE_SIGNING, LIFETIME_SIGNING] });
  const chain = await chainOf(leaf, pki.intermediate);
  await expect(signing.check(contextOf({ chain }), 'replace')).rejects.toMatchObject({ code: 'nuget-certificate' });
});
