import { beforeAll, describe, expect, it } from 'vitest';
import { CONTENT_TYPE, MESSAGE_DIGEST } from '../../../src/asn1/object-identifiers.ts';
import { octetString } from '../../../src/asn1/write.ts';
import { lazy } from '../../../src/bytes/reuse.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { expectedError } from '../../../src/errors/codesign-error.ts';
import { hasFindingAgainst } from '../../../src/errors/finding.ts';
import type { SignatureProfile } from '../../../src/format/cms.ts';
import type { Format } from '../../../src/format/format.ts';
import { cmsEnvelope, withNested } from '../../../src/format/signature.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { buildToken, buildTstInfo } from '../timestamp/support/build-token.ts';
import { applyPatch } from './support/apply-patch.ts';
import { checkIn, placeIn, removalOf, rulesOf, signingIn, stampIn, wholeStamping } from './support/change.ts';
import type { Fixture } from './support/fixtures.ts';
import { codesOf, isIntact } from './support/is-intact.ts';
import { isOf } from './support/recognised.ts';
import { attachBytes, openBytes, type SignedBytes, signBytes } from './support/sign-bytes.ts';

export interface FormatFixtures {
  readonly profile: SignatureProfile;
  /** Files that can be signed. Each is recognised, and is signed. */
  readonly good: readonly Fixture[];
  /** Names of those that represent the others in all further tests. Default: each of them. */
  readonly representative?: readonly string[];
  /** Files that the format takes as its own and rejects, each with its `code`. */
  readonly malformed: readonly Fixture[];
  /** What an examination says of sound signatures by these algorithms, which are out of date. */
  readonly remarks?: Partial<Readonly<Record<DigestAlgorithm, string>>>;
  /** The error code for algorithms by which files of the format are never signed. */
  readonly rejected?: Partial<Readonly<Record<DigestAlgorithm, string>>>;
  /** A signed result with its content changed, in several ways; the file is otherwise as it should be. */
  changedContents(result: Buffer): Promise<readonly Buffer[]>;
  /** Of three signatures put next to each other; of the third, by the signer of the first, whether it takes that one's place. */
  readonly appended?: {
    readonly algorithms: readonly [DigestAlgorithm, DigestAlgorithm, DigestAlgorithm];
    readonly sameSignerAgain: 'is added' | 'takes its place';
  };
  /** What a later timestamp is of. Default: each signature. */
  readonly stampedAs?: 'signatures' | 'a whole file';
}

/** When the certificates of tests begin to be valid. */
const NOT_BEFORE = '200101000000Z';

/** What a format does not have is not a skipped test of it. */
const itIf = (applies: boolean) => (applies ? it : (_name: string, _test: () => Promise<void>) => undefined);

export function describeFormat(format: Format, fixtures: FormatFixtures): void {
  const { profile, good, malformed, remarks = {}, rejected = {}, changedContents, appended } = fixtures;
  const { representative = good.map(({ name }) => name), stampedAs = 'signatures' } = fixtures;
  const canAppend = rulesOf(format).modes.includes('append');
  const canReplace = rulesOf(format).modes.includes('replace');
  let signer: ThrowawaySigner;
  let another: ThrowawaySigner;

  beforeAll(async () => {
    signer = await makeThrowawaySigner();
    another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
  });

  async function expectDamaged(bytes: Buffer, { embedding }: SignedBytes): Promise<void> {
    const { verify } = signingIn(await openBytes(format, bytes));
    await expect(verify(embedding)).rejects.toMatchObject({ code: 'result-damaged' });
  }

  it.each(malformed)(
    '$name is recognised, and rejected with a coded error with a hint',
    async ({ bytes, name, code }) => {
      expect(await isOf(format, bytes, name)).toBe(true);
      const error = await openBytes(format, bytes).then(() => expect.unreachable(), expectedError);
      expect(error).toMatchObject({ code, hint: expect.stringMatching(/\S/) });
      expect(error.message).not.toMatch(/\b1 (bytes|files|entries|sectors|signatures)\b/);
    },
  );

  it.each(good)('$name is signed so that the result opens, checks and is intact: $what', async ({ bytes, name }) => {
    expect(await isOf(format, bytes, name)).toBe(true);
    const { fixedAlgorithm } = signingIn(await openBytes(format, bytes));
    const possible = name === representative[0] ? DIGEST_ALGORITHMS : (['SHA256'] as const);
    for (const algorithm of fixedAlgorithm === undefined ? possible : [fixedAlgorithm.algorithm]) {
      const code = rejected[algorithm];
      if (code !== undefined) {
        await expect(signBytes(format, bytes, signer, { algorithm })).rejects.toMatchObject({ code });
        continue;
      }
      const { result, sealed } = await signBytes(format, bytes, signer, { algorithm });
      const signatures = await (await openBytes(format, result)).signatures();
      expect(signatures).toHaveLength(1);
      expect(Buffer.from(signatures[0]?.envelope.bytes ?? [])).toEqual(Buffer.from(sealed));
      expect(signatures[0]).toMatchObject({ signer: { name: 'Test Publisher' }, contained: [] });
      const remark = remarks[algorithm];
      expect(await codesOf(signatures[0])).toEqual(remark === undefined ? [] : [remark]);
      expect(hasFindingAgainst(await (await openBytes(format, result)).examine(), 'integrity')).toBe(false);
    }
  });

  describe.each(good.filter(({ name }) => representative.includes(name)))('$name: $what', ({ bytes, appendCode }) => {
    const signed = lazy(() => signBytes(format, bytes, signer));
    const signedByTwo = lazy(async () => signBytes(format, (await signed()).result, another, { mode: 'append' }));

    it('contains what its profile declares, and a token of the announced size at the declared position', async () => {
      const token = octetString(Buffer.alloc(16 * 1024));
      const { sealed } = await signBytes(format, bytes, signer, { token });
      const [{ signedAttributes, unsignedAttributes }] = parseSignedData(sealed).signers;
      const own = profile.signedAttributes(signingContext({ chain: signer.chain }));
      expect(signedAttributes.map(({ type }) => type).sort()).toEqual(
        [CONTENT_TYPE, MESSAGE_DIGEST, ...own.map(({ type }) => type)].sort(),
      );
      expect(unsignedAttributes.map(({ type }) => type)).toEqual([profile.timestampTypes[0]]);
      const values = attributeValues(unsignedAttributes, profile.timestampTypes[0]);
      expect(values.map((value) => value.bytes)).toEqual([token]);
    });

    it('is signed to the same bytes each time, and is unchanged in memory', async () => {
      const first = await signed();
      const before = Buffer.from(bytes);
      const second = await signBytes(format, bytes, signer);
      expect(second.digest).toEqual(first.digest);
      expect(second.result.equals(first.result)).toBe(true);
      expect(bytes.equals(before)).toBe(true);
    });

    itIf(canReplace)('is signed again over its own result to the same bytes', async () => {
      const once = await signed();
      const twice = await signBytes(format, once.result, signer);
      expect(twice.result).toEqual(once.result);
    });

    it('takes a second signature next to the first, and both are intact', async () => {
      if (appendCode !== undefined) {
        await expect(signBytes(format, bytes, signer, { mode: 'append' })).rejects.toMatchObject({ code: appendCode });
        return;
      }
      if (appended === undefined) throw new TypeError('a format to whose files signatures are added says which');
      const [one, two, three] = appended.algorithms;
      const first = await signBytes(format, bytes, signer, { mode: 'append', algorithm: one });
      const second = await signBytes(format, first.result, another, { mode: 'append', algorithm: two });
      const third = await signBytes(format, second.result, signer, { mode: 'append', algorithm: three });
      const signatures = await (await openBytes(format, third.result)).signatures();
      const all = withNested(signatures);
      const again = appended.sameSignerAgain === 'is added' ? ['Test Publisher'] : [];
      expect(all.map(({ signer }) => signer.name).sort()).toEqual(['Another Publisher', 'Test Publisher', ...again]);
      for (const signature of all) expect(await isIntact(signature)).toBe(true);
      const found = all.map(({ envelope }) => Buffer.from(envelope.bytes).toString('base64')).sort();
      const made = [first, second, third].map(({ sealed }) => Buffer.from(sealed).toString('base64'));
      expect(found).toEqual(expect.arrayContaining(made.slice(1)));
    });

    itIf(canAppend && canReplace)('has no trace of earlier signatures after they are replaced', async () => {
      const plain = await signed();
      const replaced = await signBytes(format, (await signedByTwo()).result, signer);
      expect(replaced.result).toEqual(plain.result);
    });

    it('is no longer intact, and not to be appended to, once its content changes', async () => {
      for (const changed of await changedContents((await signed()).result)) {
        await expectDamaged(changed, await signed());
        const file = await openBytes(format, changed);
        expect(await isIntact((await file.signatures())[0])).toBe(false);
        const context = signingContext({ chain: another.chain });
        const appending = canAppend
          ? checkIn(file, format, context, 'append')
          : signingIn(file).prepare(context, 'append');
        await expect(appending).rejects.toMatchObject({ code: 'cannot-append' });
      }
    });

    itIf(canAppend && appendCode === undefined)(
      'is not appended to when a certificate of its signature cannot be read',
      async () => {
        const { result, sealed } = await signed();
        const embedding = await placeIn(await openBytes(format, result), cmsEnvelope(withMalformedDate(sealed)));
        const file = await openBytes(format, applyPatch(result, embedding.patch));
        await expect(checkIn(file, format, signingContext({ chain: another.chain }), 'append')).rejects.toMatchObject({
          code: 'cannot-append',
          message: expect.stringMatching(/a certificate of .* cannot be read$/),
          hint: canReplace ? expect.stringContaining('--replace') : expect.not.stringContaining('--replace'),
        });
      },
    );

    it('is unsigned once its signatures are taken out, and can be signed again', async () => {
      const { result } = await signed();
      const removed = applyPatch(result, await removalOf(await openBytes(format, result)));
      const file = await openBytes(format, removed);
      expect(await file.signatures()).toEqual([]);
      await expect(removalOf(file)).rejects.toMatchObject({ code: 'not-signed' });
      const again = await signBytes(format, removed, signer);
      expect(await isIntact((await (await openBytes(format, again.result)).signatures())[0])).toBe(true);
    });

    it('gives the same bytes back when its own signature is put in', async () => {
      const { result, sealed } = await signed();
      const file = await openBytes(format, result);
      const embedding = await placeIn(file, cmsEnvelope(Buffer.concat([sealed, Buffer.alloc(3)])));
      expect(applyPatch(result, embedding.patch)).toEqual(result);
      await signingIn(file).verify(embedding);
    });

    it('is rejected with a signature of other content, or a changed one, once that is placed', async () => {
      const { result, sealed } = await signed();
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(changed.length - 9) ^ 1, changed.length - 9);
      const refusal = { code: 'not-its-signature', message: expect.not.stringMatching(/\.$/) };
      await expect(attachBytes(format, result, changed)).rejects.toMatchObject(refusal);
      for (const other of await changedContents(result)) {
        await expect(attachBytes(format, other, sealed)).rejects.toMatchObject(refusal);
      }
    });

    itIf(stampedAs === 'signatures')(
      'holds the last token that a signature is stamped with, and is intact',
      async () => {
        const { result, sealed } = await signed();
        let stamped = result;
        for (const token of [Buffer.from(sealed), Buffer.from('3000', 'hex')]) {
          const file = await openBytes(format, stamped);
          const tokens = new Map((await file.signatures()).map((signature) => [signature, token]));
          // Without tokens, it says whether the file can be stamped at all.
          await stampIn(file, new Map());
          const embedding = await stampIn(file, tokens);
          stamped = applyPatch(stamped, embedding.patch);
          const after = await openBytes(format, stamped);
          await signingIn(after).verify(embedding);
          const [signature] = await after.signatures();
          expect(await isIntact(signature)).toBe(true);
          expect(signature?.timestamps.map((timestamp) => Buffer.from(timestamp.bytes))).toEqual([token]);
        }
      },
    );

    itIf(canAppend && stampedAs === 'signatures')(
      'holds tokens of its own for each of several signatures, and all are intact',
      async () => {
        const second = await signedByTwo();
        const file = await openBytes(format, second.result);
        const before = withNested(await file.signatures());
        const tokens = before.map((_, index) => Buffer.from([0x30, 0x02, 0x05, index]));
        const added = new Map(before.map((each, index) => [each, tokens[index] ?? Buffer.of()]));
        const embedding = await stampIn(file, added);
        const after = await openBytes(format, applyPatch(second.result, embedding.patch));
        await signingIn(after).verify(embedding);
        const all = withNested(await after.signatures());
        expect(all.map(({ signer }) => signer.name)).toEqual(before.map(({ signer }) => signer.name));
        expect(all.flatMap(({ timestamps }) => timestamps.map((each) => Buffer.from(each.bytes)))).toEqual(tokens);
        for (const signature of all) expect(await isIntact(signature)).toBe(true);
      },
    );

    itIf(stampedAs === 'a whole file')('holds a timestamp of the whole file, once unless more are forced', async () => {
      const { result } = await signed();
      const file = await openBytes(format, result);
      const prepared = await wholeStamping(file).prepare('SHA256', false);
      const info = buildTstInfo(Buffer.alloc(0), { digest: (await prepared?.digest()) ?? Buffer.alloc(0) });
      const token = buildToken({ info });
      const embedding = prepared?.embed(token);
      const after = await openBytes(format, applyPatch(result, embedding?.patch ?? []));
      const [signature] = await after.signatures();
      expect(await isIntact(signature)).toBe(true);
      expect(signature?.timestamps.map((timestamp) => Buffer.from(timestamp.bytes))).toEqual([Buffer.from(token)]);
      expect(await wholeStamping(after).prepare('SHA256', false)).toBeUndefined();
      expect(await wholeStamping(after).prepare('SHA256', true)).toBeDefined();
    });

    it('fails the check with any other signature in it, or none', async () => {
      const other = await signBytes(format, bytes, another, { unchecked: true });
      await expectDamaged((await signed()).result, other);
      if (appendCode === undefined) await expectDamaged(bytes, other);
    });

    itIf(canAppend)('fails the check of a signature next to others once any of those is gone or changed', async () => {
      const first = await signed();
      const second = await signedByTwo();
      const third = await signBytes(format, second.result, signer, { mode: 'append', algorithm: 'SHA512' });
      const wrong = [
        await signBytes(format, bytes, signer, { algorithm: 'SHA512' }),
        await signBytes(format, first.result, signer, { mode: 'append', algorithm: 'SHA512' }),
        second,
      ];
      for (const { result } of wrong) await expectDamaged(result, third);
    });
  });
}

/** In a certificate next to the signer's, which no signature covers. */
function withMalformedDate(cms: Uint8Array): Buffer {
  const { certificates, signers } = parseSignedData(cms);
  const issuer = certificates.find((der) => !Buffer.from(der).equals(signers[0].certificate ?? Buffer.of()));
  const changed = Buffer.from(cms);
  changed.write('x', changed.indexOf(NOT_BEFORE, changed.indexOf(issuer ?? '')));
  return changed;
}
