import { describe, expect, it } from 'vitest';
import { CODE_SIGNING, DATA, LIFETIME_SIGNING } from '../../../../src/asn1/object-identifiers.ts';
import { readElement } from '../../../../src/asn1/read.ts';
import { octetString } from '../../../../src/asn1/write.ts';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cmsEnvelope, containedAs, type FoundSignature } from '../../../../src/format/signature.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { readPackage } from '../../../../src/formats/nuget/package.ts';
import { readSignedText, signedText } from '../../../../src/formats/nuget/signed-content.ts';
import { recogniseFormat } from '../../../../src/formats/recognise.ts';
import { formats } from '../../../../src/formats/registry.ts';
import { decideSigning } from '../../../../src/signing/signing-policy.ts';
import { editLastEntry } from '../../../../src/zip/edit-archive.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { type NewEntry, storedEntry } from '../../../../src/zip/write-records.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import {
  chainFromPem,
  makeThrowawaySigner,
  type ThrowawaySigner,
} from '../../../support/signed-files/throwaway-signer.ts';
import { zip } from '../jar/simple-zip.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, removalOf, signingIn, stampIn, warningsOf } from '../support/change.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { OWNERS, SERVICE_INDEX, signedAgain } from './repository-signatures.ts';
import { makePackage } from './samples.ts';

const plain = makePackage();
const [signer, repository] = await Promise.all([
  makeThrowawaySigner(),
  makeThrowawaySigner({ publisher: 'Test Repository' }),
]);

const coSignersOf = (signature: FoundSignature | undefined) => (signature ? containedAs('co-signer', signature) : []);
const contextOf = (more = {}) => signingContext({ chain: signer.chain, ...more });

/** The package with a signature in which others take part, or with an entry of another kind. */
async function packageWith(
  role: 'author' | 'repository',
  counters: readonly ThrowawaySigner[] = [],
  change: {
    readonly value?: boolean;
    readonly entry?: Partial<NewEntry>;
    readonly edit?: (cms: Uint8Array) => Uint8Array;
  } = {},
): Promise<Buffer> {
  const { sealed } = await signBytes(nuget, plain, signer);
  const signed = signedAgain(sealed, role === 'author' ? signer : repository, role, counters, change.value);
  const cms = change.edit?.(signed) ?? signed;
  const { body } = await readPackage(memorySource(plain));
  return applyPatch(plain, editLastEntry(body, { ...storedEntry('.signature.p7s', cms), ...change.entry }));
}

const signatureOf = async (bytes: Buffer) => (await (await openBytes(nuget, bytes)).signatures())[0];
const POLICY = { existing: undefined, isAlgorithmGiven: false, allOrNothing: false, report: true } as const;
const decide = async (bytes: Buffer, existing?: 'replace' | 'append' | 'skip') =>
  decideSigning(await openBytes(nuget, bytes), nuget, contextOf(), { ...POLICY, existing }, { digestEntries });

describe('a signature whose signer has a malformed name', () => {
  const COMMON_NAME = Buffer.from('0603550403', 'hex');

  /** The value of the last common name but one (the last is an attribute's) becomes part of the object identifier before it. */
  const withMalformedName = (cms: Uint8Array) => {
    const bytes = Buffer.from(cms);
    const commonName = bytes.lastIndexOf(COMMON_NAME, bytes.lastIndexOf(COMMON_NAME) - 1);
    bytes[commonName + 1] = 5 + (bytes[commonName + 6] ?? 0);
    return bytes;
  };

  it('is listed as unreadable; a countersignature of such a signer is not listed', async () => {
    const namesIn = async (counters: readonly ThrowawaySigner[]) => {
      const signature = await signatureOf(await packageWith('author', counters, { edit: withMalformedName }));
      return [signature, ...coSignersOf(signature)].map((each) => each?.signer.name);
    };
    expect(await namesIn([])).toEqual(['(unreadable signature)']);
    expect(await namesIn([repository])).toEqual(['Test Publisher']);
  });
});

describe('a package that a repository signed or countersigned', () => {
  it('names the repository, its service and the owners', async () => {
    const primary = await signatureOf(await packageWith('repository'));
    expect(await primary?.details()).toEqual(
      expect.arrayContaining([
        { name: 'signature of', value: 'repository' },
        { name: 'service index', value: SERVICE_INDEX },
        { name: 'package owners', value: OWNERS.join(', ') },
      ]),
    );
    const countersigned = await signatureOf(await packageWith('author', [repository]));
    expect(await countersigned?.details()).toEqual(
      expect.arrayContaining([
        { name: 'signature of', value: 'author' },
        { name: 'repository countersignature', value: 'Test Repository' },
        { name: 'repository countersignature, service index', value: SERVICE_INDEX },
        { name: 'repository countersignature, package owners', value: OWNERS.join(', ') },
      ]),
    );
    expect(coSignersOf(countersigned).map(({ location, signer }) => [location, signer.name])).toEqual([
      ['.signature.p7s, repository countersignature', 'Test Repository'],
    ]);
  });

  it('is intact, unless the countersignature is of another signature, or there are two', async () => {
    for (const counters of [[], [repository]]) {
      const signature = await signatureOf(await packageWith('author', counters));
      expect(await codesOf(signature)).toEqual([]);
      for (const each of coSignersOf(signature)) expect(await codesOf(each)).toEqual([]);
    }
    expect(await codesOf(await signatureOf(await packageWith('repository')))).toEqual([]);
    const other = await signatureOf(await packageWith('author', [repository], { value: true }));
    expect(await codesOf(other?.contained[0]?.signature)).toEqual(['message-digest-differs']);
    expect(await codesOf(await signatureOf(await packageWith('author', [repository, signer])))).toEqual([
      'several-repositories',
    ]);
  });

  it('is not intact with more countersignatures than are read', async () => {
    const many = Array.from({ length: 9 }, () => repository);
    expect(await codesOf(await signatureOf(await packageWith('author', many)))).toContain('several-countersignatures');
  });

  it('is signed again only if the user says replace', async () => {
    for (const bytes of [await packageWith('repository'), await packageWith('author', [repository])]) {
      await expect(decide(bytes)).rejects.toMatchObject({
        code: 'signatures-kept',
        message: expect.stringContaining('Test Repository'),
      });
      expect((await decide(bytes, 'replace')).skipped).toBeUndefined();
    }
    const countersigned = await packageWith('author', [repository]);
    expect((await decide(countersigned, 'skip')).skipped).toBe('already-signed');
    expect((await decide((await signBytes(nuget, plain, signer)).result)).skipped).toBeUndefined();
    await expect(decide(plain, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
  });

  it('keeps the countersignature when it is timestamped, and when a signature is attached', async () => {
    const bytes = await packageWith('author', [repository]);
    const file = await openBytes(nuget, bytes);
    const [signature] = await file.signatures();
    if (signature === undefined) throw new Error('it is not signed');
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
    const { body } = await readPackage(memorySource(plain));
    const { sealed } = await signBytes(nuget, plain, signer);
    const entry = storedEntry('.signature.p7s', Buffer.concat([sealed, Buffer.alloc(1)]));
    const signature = await signatureOf(applyPatch(plain, editLastEntry(body, entry)));
    expect(await codesOf(signature)).toEqual(['hidden-bytes']);
  });

  it.each<readonly [string, Partial<NewEntry>, string]>([
    ['has flags', { flags: 2 }, 'it has flags'],
    ['has extra fields', { extra: Buffer.from('feca0000', 'hex') }, 'it has extra fields or a comment'],
  ])('is reported and refused if it %s, and can be removed', async (_what, entry, problem) => {
    const bytes = await packageWith('author', [], { entry });
    const file = await openBytes(nuget, bytes);
    expect(await file.examine()).toEqual([
      { code: 'signature-entry-odd', weight: 'broken', message: expect.stringContaining(problem) },
    ]);
    await expect(signingIn(file).prepare(contextOf(), 'replace')).rejects.toMatchObject({
      code: 'nuget-signature-entry',
    });
    expect(applyPatch(bytes, await removalOf(file))).toEqual(plain);
  });

  it('is reported if it is compressed, not last, of another version, or has external attributes', async () => {
    const signed = (await signBytes(nuget, plain, signer)).result;
    const directory = signed.readUInt32LE(signed.length - 6);
    const record = signed.lastIndexOf('PK\x01\x02', -22, 'latin1');
    const changed = (offset: number, value: number) => {
      const bytes = Buffer.from(signed);
      bytes[offset] = value;
      return bytes;
    };
    const local = signed.lastIndexOf('PK\x03\x04', directory, 'latin1');
    const cases: readonly (readonly [Buffer, string])[] = [
      [makePackage({ name: '.signature.p7s', contents: 'x' }), 'it is compressed'],
      [
        makePackage({ name: '.signature.p7s', contents: 'x', isStored: true }, { name: 'last.txt' }),
        'it is not the last entry',
      ],
      [changed(record + 6, 45), 'it needs version 45'],
      [changed(local + 4, 10), 'it needs version 20'],
      [changed(record + 38, 1), 'it has external attributes'],
    ];
    for (const [bytes, problem] of cases) {
      const messages = (await (await openBytes(nuget, bytes)).examine()).map(({ message }) => message);
      expect(messages).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
    }
  });

  it('does not count as a signature, and causes a warning, if its name is in upper case or has the UTF-8 flag', async () => {
    const upper = await openBytes(nuget, makePackage({ name: '.SIGNATURE.P7S', contents: 'x', isStored: true }));
    expect(await warningsOf(upper)).toEqual([expect.stringContaining('.SIGNATURE.P7S is not a signature')]);
    expect(await upper.signatures()).toEqual([]);
    // This ZIP writer sets the flag.
    const flagged = await openBytes(nuget, zip([{ name: 'a.nuspec' }, { name: '.signature.p7s', isStored: true }]));
    expect(await flagged.signatures()).toEqual([]);
    expect((await flagged.examine()).map(({ code }) => code)).toEqual(['signature-name-unrecognised']);
    await expect(signingIn(flagged).prepare(contextOf(), 'replace')).rejects.toMatchObject({
      code: 'nuget-signature-entry',
    });
  });
});

describe('the text that is signed', () => {
  it.each([
    ['LF', '\n', true],
    ['CR LF', '\r\n', true],
    ['CR', '\r', false],
  ])('is read with line ends %s: %j', (_name, end, isRead) => {
    const text = signedText('SHA384', Buffer.alloc(48, 1)).toString().replaceAll('\n', end);
    const read = readSignedText({ contentType: DATA, content: readElement(octetString(Buffer.from(text)), 'text') });
    expect(read?.algorithm).toBe(isRead ? 'SHA384' : undefined);
  });
});

describe('what NuGet would reject', () => {
  it('is rejected before anything is signed: SHA-1', async () => {
    const file = await openBytes(nuget, plain);
    for (const context of [contextOf({ algorithm: 'SHA1' }), contextOf({ timestampAlgorithm: 'SHA1' })]) {
      await expect(signingIn(file).check(context, 'replace')).rejects.toMatchObject({ code: 'nuget-algorithm' });
    }
  });

  it('is rejected before anything is signed: a certificate for lifetime signing', async () => {
    const pki = makePki();
    const leaf = pki.leaf({ purposes: [CODE_SIGNING, LIFETIME_SIGNING] });
    const chain = await chainFromPem(leaf.pem, pki.intermediate.pem);
    const file = await openBytes(nuget, plain);
    await expect(signingIn(file).check(contextOf({ chain }), 'replace')).rejects.toMatchObject({
      code: 'nuget-certificate',
    });
  });
});

describe('recognition', () => {
  const kindOf = async (name: string, ...names: readonly string[]) => {
    const bytes = zip(names.map((each) => ({ name: each, contents: each })));
    return (await recogniseFormat(memorySource(bytes), [name], { formats })).id;
  };

  it('needs a .nuspec in the root, and leaves a JAR that has one a JAR', async () => {
    expect(await kindOf('a.nupkg', 'a.nuspec')).toBe('nuget');
    expect(await kindOf('a.zip', 'a.NUSPEC', '_rels/.rels')).toBe('nuget');
    expect(await kindOf('a.snupkg', 'a.nuspec', 'META-INF/MANIFEST.MF')).toBe('nuget');
    expect(await kindOf('a.jar', 'a.nuspec', '[Content_Types].xml', 'META-INF/MANIFEST.MF')).toBe('jar');
    await expect(kindOf('a.nupkg', 'lib/a.nuspec')).rejects.toMatchObject({ code: 'unsupported-format' });
  });
});
