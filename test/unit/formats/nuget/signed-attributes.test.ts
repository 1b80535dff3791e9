/** What NuGet requires of a signature besides a value that verifies, one thing missing or wrong at a time. */

import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  COMMITMENT_TYPE,
  COUNTER_SIGNATURE,
  PROOF_OF_ORIGIN,
  PROOF_OF_RECEIPT,
  SIGNING_CERTIFICATE_V2,
  SIGNING_TIME,
  TIMESTAMP_TOKEN,
} from '../../../../src/asn1/object-identifiers.ts';
import { objectIdentifier, sequence } from '../../../../src/asn1/write.ts';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import type { Attribute } from '../../../../src/cms/build-signed-data.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { contentOf, readPackage } from '../../../../src/formats/nuget/package.ts';
import { NUGET_PROFILE, signedText } from '../../../../src/formats/nuget/signed-content.ts';
import { certificateProblem } from '../../../../src/formats/nuget/signers.ts';
import { editLastEntry } from '../../../../src/zip/edit-archive.ts';
import { storedEntry } from '../../../../src/zip/write-records.ts';
import { makePki, testKey } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch, insertedBy } from '../support/apply-patch.ts';
import { codesIn } from '../support/is-intact.ts';
import { type AttributeChange, signContent } from './repository-signatures.ts';
import { makePackage } from './samples.ts';

const REPEATED = 'signed-attributes-repeated';
const plain = makePackage();
const [signer, other] = await Promise.all([makeThrowawaySigner(), makeThrowawaySigner({ publisher: 'Another' })]);

/** The findings about a signature with changed signed attributes. */
async function codesWith(
  change: AttributeChange,
  { digest = 'SHA256', unsigned = [] }: { digest?: 'SHA1' | 'SHA256'; unsigned?: readonly Attribute[] } = {},
) {
  const source = memorySource(plain);
  const opened = await readPackage(source);
  const text = signedText(digest, hash(digest, insertedBy(contentOf(opened, source), plain), 'buffer'));
  const cms = signContent(text, [signer], change, () => unsigned);
  const result = applyPatch(plain, editLastEntry(opened.body, storedEntry('.signature.p7s', cms)));
  return await codesIn(nuget, result);
}

const only = (type: string, all: readonly Attribute[]) => all.filter((each) => each.type === type);
const without =
  (type: string, ...instead: readonly Attribute[]): AttributeChange =>
  (all) => [...all.filter((each) => each.type !== type), ...instead];
const committed = (...proofs: readonly string[]) =>
  without(
    COMMITMENT_TYPE,
    ...proofs.map((proof) => ({ type: COMMITMENT_TYPE, value: sequence(objectIdentifier(proof)) })),
  );
const OTHERS = NUGET_PROFILE.signedAttributes(signingContext({ chain: other.chain }));
const ofAnother = without(SIGNING_CERTIFICATE_V2, ...only(SIGNING_CERTIFICATE_V2, OTHERS));
const same: AttributeChange = (attributes) => attributes;

it.each<readonly [string, AttributeChange, readonly string[]]>([
  ['nothing wrong', same, []],
  ['no signing time', without(SIGNING_TIME), ['signing-time-missing']],
  ['no commitment', without(COMMITMENT_TYPE), ['signature-role-unknown']],
  ['a commitment of nobody', committed('1.2.3'), ['signature-role-unknown']],
  ['a repository that does not name its service', committed(PROOF_OF_RECEIPT), ['service-index-missing']],
  ['two commitments', committed(PROOF_OF_ORIGIN, PROOF_OF_RECEIPT), ['signature-role-unknown', REPEATED]],
  ['no certificate named', without(SIGNING_CERTIFICATE_V2), ['signing-certificate-differs']],
  ['another certificate named', ofAnother, ['signing-certificate-differs']],
  ['two signing times', (all) => [...all, ...only(SIGNING_TIME, all)], [REPEATED]],
])('finds in a signature with %s', async (_what, change, codes) => {
  expect([...(await codesWith(change))].sort()).toEqual([...codes].sort());
});

it('finds a digest of the package by SHA-1, an invalid countersignature, and two timestamps', async () => {
  expect(await codesWith(same, { digest: 'SHA1' })).toContain('digest-algorithm-weak');
  const countered = [{ type: COUNTER_SIGNATURE, value: sequence() }];
  expect(await codesWith(same, { unsigned: countered })).toContain('countersignature-unreadable');
  const stamped = [1, 2].map((number) => ({ type: TIMESTAMP_TOKEN, value: sequence(Uint8Array.of(2, 1, number)) }));
  expect(await codesWith(same, { unsigned: stamped })).toContain('several-timestamps');
});

it.each([
  ['an elliptic curve', 'ec', /not an RSA key/],
  ['RSA of 1024 bits', 'rsa-1024', /has 1024 bits/],
] as const)('a certificate with %s is not one for NuGet', (_what, kind, problem) => {
  expect(certificateProblem(makePki().leaf({ key: testKey(kind) }).der)).toMatch(problem);
});
